// 256-bit words in linear memory: four u64 limbs, the least significant first, 8-byte aligned. `sp` is the top word of a stack that grows
// upward; the second word is at sp - 32. A binary operation writes its result at sp - 32; the caller then lowers sp by 32.
export { add, sub, addTo, subFrom, negate } from './add'
export { and, byte, clz, not, or, sar, shl, shr, signextend, xor } from './bits'
export { loadBig, readBytes, storeBig } from './bytes'
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
} from './compare'
export { div, mod, sdiv, smod } from './div'
export { exp } from './exp'
export { addmod, mulmod } from './mod'
export { mul } from './mul'
