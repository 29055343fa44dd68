import { blockSize, maxStackBytes, opBlock } from './internal'
import { gasOf, givesOf, takesOf } from './opcodes'

/**
 * The basic block in translation: its gas, the stack height it needs, and its stack growth. These are accumulated per opcode and written to the
 * block's
 * head when the block ends. Execution leaves a block only at its end or by a halt, which reverts everything, so gas and stack are checked once per
 * block.
 */

/** Address of the block's head; 0 between blocks. */
export let blockAt: usize = 0
let gas: u32 = 0
let height: i32 = 0
let need: i32 = 0
let growth: i32 = 0
/** Addresses of operands that receive the gas of the rest of the block. */
const rests: usize = memory.data(4 * 256)
let restCount: u32 = 0

export function beginBlock(at: usize): usize {
  blockAt = at
  gas = 0
  height = 0
  need = 0
  growth = 0
  restCount = 0
  store<u16>(at, opBlock)
  return at + blockSize
}

/** Adds an opcode, given by its row in the table, to the block. */
export function countOpcode(row: u32): void {
  gas += gasOf(row)
  need = max(need, takesOf(row) - height)
  height += givesOf(row) - takesOf(row)
  growth = max(growth, height)
}

export function countGas(more: u32): void {
  gas += more
}

/** Registers a u32 operand that will receive the gas of the block after this point. */
export function wantRest(operand: usize): void {
  store<u32>(operand, gas)
  store<u32>(rests + (<usize>(restCount++) << 2), <u32>operand)
}

export function endBlock(): void {
  if (blockAt === 0) return
  store<u16>(blockAt, <u16>min<i32>(need * 32, <i32>maxStackBytes + 32), 2)
  store<u16>(blockAt, <u16>min<i32>(growth * 32, <i32>maxStackBytes + 32), 4)
  store<u32>(blockAt, gas, 6)
  for (let i: u32 = 0; i < restCount; i++) {
    const operand = <usize>load<u32>(rests + (<usize>i << 2))
    store<u32>(operand, gas - load<u32>(operand))
  }
  blockAt = 0
}
