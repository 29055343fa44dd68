import { budgetOf, classOf, folds, inverts, isPushed, jumpsIf } from './opcodes'

/**
 * Jump table of a code. Each 64 bytes of code have a bitmap of JUMPDESTs (u64), the number of earlier JUMPDESTs (u32), and the offset of their
 * distances
 * from here (u32). Then follows for each JUMPDEST the distance of its block from the start of the stream (u32), 0 while untranslated.
 */
const groupBytes: usize = 16

/** Upper bound in bytes of the stream of the last scanned code, for any order of translation. */
export let streamBound: u32 = 0

/** Number of opcodes translated at once; the rest waits until execution reaches it. */
export const chunkOpcodes: u32 = 256
/** Bytes of the end of a part and the head of the next. */
const chunkBytes: u32 = 26
/** Bytes of the step and head of each opcode in the traced build. */
const tracedBytes: u32 = 16

/** Finds the JUMPDESTs of a code and writes the table at `to`. @returns the table's end */
export function scanJumps(code: usize, size: u32, to: usize): usize {
  const bytes = (((<usize>size) + 63) >> 6) * groupBytes
  memory.fill(to, 0, bytes)
  let count: u32 = 0
  let opcodes: u32 = 0
  let bound: u32 = 0
  let last: u32 = 0
  let beforeLast: u32 = 0
  for (let pc: u32 = 0; pc < size; pc++) {
    const opcode = <u32>load<u8>(code + pc)
    const kind = classOf(opcode)
    bound += budgetOf(opcode)
    opcodes++
    if (opcode === 0x5b) addTarget(to, pc, count++, <u32>bytes)
    else if (kind !== 0) {
      bound += moreFor(kind, last, beforeLast)
      if (opcode >= 0x60 && opcode <= 0x7f) pc += opcode - 0x5f
    }
    beforeLast = last
    last = kind
  }
  if (isDefined(TRACED)) bound += (opcodes + 1) * tracedBytes
  streamBound = bound + (opcodes / chunkOpcodes + 2) * chunkBytes
  memory.fill(to + bytes, 0, <usize>count << 2)
  return (to + bytes + (<usize>count << 2) + 7) & ~7
}

/**
 * Returns the bytes that an opcode can take beyond its budget because of preceding constants: the folded word, a long operand, or a jump resolved
 * later.
 */
function moreFor(kind: u32, last: u32, beforeLast: u32): u32 {
  if (!(last & isPushed)) return 0
  if (kind & folds) return beforeLast & isPushed ? 26 : 4
  if (kind & inverts) return 24
  return kind & jumpsIf ? 10 : 0
}

function addTarget(table: usize, pc: u32, index: u32, bytes: u32): void {
  const group = table + <usize>(pc >> 6) * groupBytes
  const bits = load<u64>(group)
  if (bits === 0) {
    store<u32>(group, index, 8)
    store<u32>(group, bytes, 12)
  }
  store<u64>(group, bits | ((<u64>1) << (pc & 63)))
}

/** Returns the address of the block distance of the JUMPDEST at `pc`; 0 when there is none. @param pc below the size of the code */
export function targetAt(table: usize, pc: u32): usize {
  const group = table + <usize>(pc >> 6) * groupBytes
  const bits = load<u64>(group)
  const bit = (<u64>1) << (pc & 63)
  if (!(bits & bit)) return 0
  const index = load<u32>(group, 8) + <u32>popcnt(bits & (bit - 1))
  return table + <usize>load<u32>(group, 12) + (<usize>index << 2)
}
