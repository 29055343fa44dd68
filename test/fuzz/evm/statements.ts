// Statements on the stack, memory and storage, and reads of the environment.
import type { Writer } from './writer.ts'

export type Statement = (writer: Writer) => void

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const binaryOpcodes = [...range(0x01, 0x07), 0x0a, 0x0b, ...range(0x10, 0x14), ...range(0x16, 0x18), ...range(0x1a, 0x1d)]

/** Arithmetic on one, two or three words. */
export const arithmetic: Statement = (writer) => {
  const { random } = writer
  const kind = random.below(10)
  if (kind < 7) {
    const opcode = random.pick(binaryOpcodes)
    writer.word()
    // The cost of EXP depends on the exponent's length; shifts, BYTE and SIGNEXTEND have trivial results for large operands.
    if ([0x0b, 0x1a, 0x1b, 0x1c, 0x1d].includes(opcode) && random.percent(70)) writer.push(random.below(260))
    else writer.word()
    writer.op(opcode, 2, 1)
  } else if (kind < 8 || (kind < 9 && writer.has('osaka'))) {
    writer.word()
    writer.op(writer.has('osaka') && random.percent(50) ? 0x1e : random.pick([0x15, 0x19]), 1, 1)
  } else {
    for (let i = 0; i < 3; i++) writer.word()
    writer.op(random.pick([0x08, 0x09]), 3, 1)
  }
}

/** Reads of the frame, the transaction and the block. */
export const environment: Statement = (writer) => {
  const { random } = writer
  const opcodes = [0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, ...range(0x41, 0x48), 0x58, 0x59, 0x5a]
  if (writer.has('cancun')) opcodes.push(0x4a)
  if (random.percent(70)) writer.op(random.pick(opcodes), 0, 1)
  else if (random.percent(50)) {
    writer.push(random.percent(70) ? random.between(740, 1_001) : random.word())
    writer.op(0x40, 1, 1)
  } else if (writer.has('cancun')) {
    writer.push(random.percent(70) ? random.below(3) : random.word())
    writer.op(0x49, 1, 1)
  }
}

/** DUP of any word; SWAP and POP of words above the floor. */
export const shuffle: Statement = (writer) => {
  const { random, height, floor } = writer
  const own = height - floor
  const kind = random.below(3)
  if (kind === 0 && height > 0) writer.op(0x7f + random.between(1, Math.min(16, height)), 0, 1)
  else if (kind === 1 && own > 1) writer.op(0x8f + random.between(1, Math.min(16, own - 1)), 0, 0)
  else if (own > 0) writer.op(0x50, 1, 0)
  else writer.word()
}

/** Loads, stores, hashes and copies at any offset. */
export const memory: Statement = (writer) => {
  const { random } = writer
  const kind = random.below(12)
  if (kind < 3) {
    writer.offset()
    writer.op(0x51, 1, 1)
  } else if (kind < 6) {
    writer.word()
    writer.offset()
    writer.op(random.percent(75) ? 0x52 : 0x53, 2, 0)
  } else if (kind < 7) {
    writer.size()
    writer.offset()
    writer.op(0x20, 2, 1)
  } else if (kind < 8 && writer.has('cancun')) {
    writer.size()
    writer.offset()
    writer.offset()
    writer.op(0x5e, 3, 0)
  } else if (kind < 10) {
    writer.size()
    writer.offset()
    writer.offset()
    writer.op(random.pick([0x37, 0x39]), 3, 0)
  } else if (kind < 11) {
    writer.offset()
    writer.op(0x35, 1, 1)
  } else returnData(writer)
}

/** Copies all return data or a part; seldom more than that, which halts. */
function returnData(writer: Writer): void {
  const { random } = writer
  if (random.percent(80)) {
    writer.op(0x3d, 0, 1)
    writer.push(0)
  } else {
    writer.push(random.percent(97) ? 0 : 1)
    writer.push(random.percent(97) ? 0 : random.below(40))
  }
  writer.offset()
  writer.op(0x3e, 3, 0)
}

/** Reads and writes of a few slots with changing values, including transient ones. */
export const storage: Statement = (writer) => {
  const { random } = writer
  const isTransient = writer.has('cancun') && random.percent(30)
  if (writer.isReader || random.percent(40)) {
    writer.slot()
    writer.op(isTransient ? 0x5c : 0x54, 1, 1)
    return
  }
  if (random.percent(60)) writer.push(random.pick([0, 0, 1, 5, 5, 7]))
  else writer.word()
  writer.slot()
  writer.op(isTransient ? 0x5d : 0x55, 2, 0)
}

/** LOG0 to LOG4. */
export const log: Statement = (writer) => {
  if (writer.isReader) return
  const topics = writer.random.below(5)
  for (let i = 0; i < topics; i++) writer.word()
  writer.size()
  writer.offset()
  writer.op(0xa0 + topics, topics + 2, 0)
}

/** Stores values whose errors would stay invisible otherwise: gas, size of memory, all of memory. */
export const reveal: Statement = (writer) => {
  const { random } = writer
  const kind = random.below(4)
  if (kind < 2) writer.op(kind === 0 ? 0x5a : 0x59, 0, 1)
  else {
    writer.op(0x59, 0, 1)
    writer.push(0)
    writer.op(0x20, 2, 1)
  }
  if (writer.isReader || kind === 3) return
  writer.push(random.between(6, 9))
  writer.op(0x55, 2, 0)
}
