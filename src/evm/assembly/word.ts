// 256-bit words in linear memory: four u64 limbs, the least significant first, 8-byte aligned. `sp` is the top word of a stack that grows
// upward; the second word is at sp - 32. A binary operation writes its result at sp - 32; the caller then lowers sp by 32.
export { add, sub, addTo, subFrom, negate } from './wordAdd'
export { and, byte, clz, not, or, sar, shl, shr, signextend, xor } from './wordBits'
export { loadBig, readBytes, storeBig } from './wordBytes'
export {
  compare,
  copyWord,
  eq,
  equal,
  exponentBytes,
  fitsU32,
  gt,
  isZero,
  iszero,
  lt,
  setSmall,
  sgt,
  slt,
  swapWords,
  toU32Clamped,
  zero,
} from './wordCompare'
export { div, mod, sdiv, smod } from './wordDiv'
export { exp } from './wordExp'
export { addmod, mulmod } from './wordMod'
export { mul } from './wordMul'
