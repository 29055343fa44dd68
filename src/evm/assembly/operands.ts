import { distanceOf, translateFrom } from './code'
import { charge } from './gas'
import { frameCode, frameIp, frameStream, opJumpTo, switched } from './internal'
import { expandMemory, memoryCost, unpayable } from './memory'
import { addTo, toU32Clamped } from './word/word'
import { setLimbs } from './word/compare'

/** Returns the address of the block that the jump target at `sp` names; 0 when there is no JUMPDEST. */
export function jumpTarget(frame: usize, stream: usize, sp: usize): usize {
  const distance = distanceOf(<usize>load<u32>(frame, frameCode), toU32Clamped(sp))
  return distance === 0 ? 0 : stream + <usize>distance
}

/** Handles `opContinue`: translates the code at its pc, unless already translated, and patches the jump that led here to go there directly. */
export function goOnAt(frame: usize): i32 {
  const ip = <usize>load<u32>(frame, frameIp)
  const stream = load<u32>(frame, frameStream)
  const code = <usize>load<u32>(frame, frameCode)
  const pc = load<u32>(ip, 2)
  const known = distanceOf(code, pc)
  const distance = known !== 0 ? known : translateFrom(code, pc)
  store<u32>(<usize>(stream + load<u32>(ip, 6)), distance)
  // for later executions of the stub
  store<u16>(ip, opJumpTo)
  store<u32>(ip, distance, 2)
  store<u32>(frame, stream + distance, frameIp)
  return switched
}

/** Pays for and expands memory of a few bytes at an offset. Returns false when the gas does not suffice. */
export function touchWord(frame: usize, offset: u32, size: u32): bool {
  const end = <u64>offset + <u64>size
  const price = memoryCost(frame, end)
  if (price >= unpayable || !charge(price)) return false
  expandMemory(frame, end)
  return true
}

const small: usize = memory.data(32)

/** Adds a u64 to a word. */
// @ts-ignore: decorator
@inline
export function addSmall(sp: usize, value: u64): void {
  const low = load<u64>(sp) + value
  if (low >= value) store<u64>(sp, low)
  else {
    store<u64>(small, value)
    addTo(sp, small)
  }
}

// @ts-ignore: decorator
@inline
function limb(p: usize, index: i32): u64 {
  return index < 0 || index > 3 ? 0 : load<u64>(p + (<usize>index << 3))
}

/** Shifts by less than 256 bits. */
export function shlBy(p: usize, shift: u32): void {
  const limbs = <i32>(shift >> 6)
  const bits = <u64>(shift & 63)
  const a = limb(p, 3 - limbs)
  const b = limb(p, 2 - limbs)
  const c = limb(p, 1 - limbs)
  const d = limb(p, 0 - limbs)
  if (bits === 0) setLimbs(p, d, c, b, a)
  else setLimbs(p, d << bits, (c << bits) | (d >> (64 - bits)), (b << bits) | (c >> (64 - bits)), (a << bits) | (b >> (64 - bits)))
}

export function shrBy(p: usize, shift: u32): void {
  const limbs = <i32>(shift >> 6)
  const bits = <u64>(shift & 63)
  const a = limb(p, limbs)
  const b = limb(p, limbs + 1)
  const c = limb(p, limbs + 2)
  const d = limb(p, limbs + 3)
  if (bits === 0) setLimbs(p, a, b, c, d)
  else setLimbs(p, (a >> bits) | (b << (64 - bits)), (b >> bits) | (c << (64 - bits)), (c >> bits) | (d << (64 - bits)), d >> bits)
}

/** Sets a word whose bits above the lowest 16 are all one. */
// @ts-ignore: decorator
@inline
export function setNegative(p: usize, low: u64): void {
  setLimbs(p, 0xffffffffffff0000 | low, u64.MAX_VALUE, u64.MAX_VALUE, u64.MAX_VALUE)
}
