import { codeEnd } from './layout'

/**
 * Where a code may be jumped to: for each 64 bytes of it a bitmap of its JUMPDESTs (u64) and how many come before (u32, and u32 unused), then for
 * each JUMPDEST the distance of its block from the start of the stream (u32). Made in scratch while the code is translated.
 */
const groupBytes: usize = 16
const offsetsScratch: usize = codeEnd - 0x400000
const groupsScratch: usize = codeEnd - 0x300000
/** u32 addresses of operands that hold a target's pc until the table is whole */
const fixupsScratch: usize = codeEnd - 0x200000

let count: u32 = 0
let fixupCount: u32 = 0
let groups: u32 = 0

export function beginJumps(codeSize: u32): void {
  count = 0
  fixupCount = 0
  groups = (codeSize + 63) >> 6
  memory.fill(groupsScratch, 0, <usize>groups * groupBytes)
}

/** A JUMPDEST whose block begins `distance` bytes into the stream. In order of pc. */
export function addTarget(pc: u32, distance: u32): void {
  const group = groupsScratch + <usize>(pc >> 6) * groupBytes
  const bits = load<u64>(group)
  if (bits === 0) store<u32>(group, count, 8)
  store<u64>(group, bits | ((<u64>1) << (pc & 63)))
  store<u32>(offsetsScratch + (<usize>(count++) << 2), distance)
}

export function addFixup(operand: usize): void {
  store<u32>(fixupsScratch + (<usize>(fixupCount++) << 2), <u32>operand)
}

/** Puts the table at `to`. @returns its end */
export function placeJumps(to: usize): usize {
  const bytes = <usize>groups * groupBytes
  memory.copy(to, groupsScratch, bytes)
  for (let i: u32 = 0; i < groups; i++) store<u32>(to + <usize>i * groupBytes, <u32>(bytes), 12)
  memory.copy(to + bytes, offsetsScratch, <usize>count << 2)
  return (to + bytes + (<usize>count << 2) + 7) & ~7
}

export const noTarget: u32 = 0xffffffff

/** Distance of the target's block from the start of the stream; `noTarget` when there is no JUMPDEST. @param pc below the size of the code */
export function targetOf(jumps: usize, pc: u32): u32 {
  const group = jumps + <usize>(pc >> 6) * groupBytes
  const bits = load<u64>(group)
  const bit = (<u64>1) << (pc & 63)
  if (!(bits & bit)) return noTarget
  const index = load<u32>(group, 8) + <u32>popcnt(bits & (bit - 1))
  return load<u32>(jumps + <usize>load<u32>(group, 12) + (<usize>index << 2))
}

/** Number of operands that wait for their target, and each of them. */
export function fixups(): u32 {
  return fixupCount
}

export function fixupAt(index: u32): usize {
  return <usize>load<u32>(fixupsScratch + (<usize>index << 2))
}
