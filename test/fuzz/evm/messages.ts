// Statements that call other accounts, read their state, create and destroy them.
import type { Statement } from './statements.ts'
import type { Writer } from './writer.ts'

/** Gas of a call: a constant or a part of the gas left; seldom all, none or too much, since a callee that halts uses all of its gas. */
function callGas(writer: Writer): void {
  const { random } = writer
  const kind = random.below(20)
  if (kind < 2) writer.op(0x5a, 0, 1)
  else if (kind < 13) writer.push(random.pick([100, 700, 2_300, 3_000, 10_000, 25_000, 40_000, random.below(30_000)]))
  else if (kind < 18) {
    writer.push(random.between(2, 4))
    writer.op(0x5a, 0, 1)
    writer.op(0x1c, 2, 1)
  } else if (kind < 19) {
    writer.push(random.below(5_000))
    writer.op(0x5a, 0, 1)
    writer.op(0x03, 2, 1)
  } else writer.push(random.pick([0n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n]))
}

/** Address. Its upper twelve bytes, which must be ignored, are seldom set. */
function address(writer: Writer, prefersReaders: boolean): void {
  const { random, around } = writer
  const kind = random.below(20)
  if (kind < 1) writer.op(0x30, 0, 1)
  else if (kind < 2) writer.word()
  else if (kind < 4) writer.push(BigInt(random.pick(around.others)))
  else {
    const high = random.percent(5) ? random.word() << 160n : 0n
    const to = random.pick(prefersReaders && random.percent(80) ? around.readers : around.contracts)
    writer.push((BigInt(to) | high) & (2n ** 256n - 1n))
  }
}

/** Call of any kind with random memory and gas. */
export const call: Statement = (writer) => {
  const { random } = writer
  const opcode = writer.isReader ? random.pick([0xfa, 0xfa, 0xf4]) : random.pick([0xf1, 0xf1, 0xf1, 0xf2, 0xf4, 0xf4, 0xfa])
  const hasValue = opcode === 0xf1 || opcode === 0xf2
  writer.size()
  writer.offset()
  writer.size()
  writer.offset()
  if (hasValue) writer.push(random.percent(70) ? 0 : random.percent(95) ? random.below(10) : random.word())
  address(writer, opcode === 0xfa || writer.isReader)
  callGas(writer)
  writer.op(opcode, hasValue ? 7 : 6, 1)
}

/** Call of a precompile with a valid input, which is copied into memory from the end of the code. */
export const precompile: Statement = (writer) => {
  const { random, around, asm } = writer
  const to = random.pick(around.precompiles)
  const inputs = around.precompileInputs.get(to) ?? []
  const input = inputs.length > 0 && random.percent(80) ? random.pick(inputs) : random.bytes(random.below(200))
  const at = asm.data(input)
  writer.push(input.length)
  asm.pushLabel(at)
  writer.height++
  writer.push(0)
  writer.op(0x39, 3, 0)
  const opcode = random.pick([0xf1, 0xf2, 0xf4, 0xfa])
  const isPlain = opcode === 0xf4 || opcode === 0xfa
  writer.size()
  writer.offset()
  writer.push(random.percent(90) ? input.length : random.below(input.length + 40))
  writer.push(0)
  if (!isPlain) writer.push(writer.isReader || random.percent(80) ? 0 : 1)
  writer.push(to)
  if (random.percent(70)) writer.op(0x5a, 0, 1)
  else writer.push(random.below(4_000))
  writer.op(opcode, isPlain ? 6 : 7, 1)
}

/** BALANCE, EXTCODESIZE, EXTCODEHASH or EXTCODECOPY. */
export const askAccount: Statement = (writer) => {
  const { random } = writer
  if (random.percent(75)) {
    address(writer, false)
    writer.op(random.pick([0x31, 0x3b, 0x3f]), 1, 1)
    return
  }
  writer.size()
  writer.offset()
  writer.offset()
  address(writer, false)
  writer.op(0x3c, 4, 0)
}

/** Generates the initcode of a creation. */
export type Initcode = (writer: Writer) => Uint8Array

/** CREATE or CREATE2. The created contract is mostly called afterwards. */
export function creation(initcode: Initcode): Statement {
  return (writer) => {
    const { random, asm } = writer
    if (writer.isReader || writer.nesting > 2) return
    const code = initcode(writer)
    const at = asm.data(code)
    const isSalted = random.percent(60)
    const to = random.below(3) * 32
    writer.push(code.length)
    asm.pushLabel(at)
    writer.height++
    writer.push(to)
    writer.op(0x39, 3, 0)
    if (isSalted) writer.push(random.below(3))
    writer.push(random.percent(97) ? code.length : random.pick([0, 0xc001, code.length + 5]))
    writer.push(to)
    writer.push(random.percent(75) ? 0 : random.below(20))
    writer.op(isSalted ? 0xf5 : 0xf0, isSalted ? 4 : 3, 1)
    if (random.percent(70)) callCreated(writer)
  }
}

function callCreated(writer: Writer): void {
  for (let i = 0; i < 4; i++) writer.push(i % 2 === 0 ? writer.random.below(70) : 0)
  const opcode = writer.random.pick([0xf1, 0xf1, 0xf4, 0xfa])
  if (opcode === 0xf1) writer.push(writer.random.percent(80) ? 0 : 3)
  writer.op(opcode === 0xf1 ? 0x85 : 0x84, 0, 1)
  callGas(writer)
  writer.op(opcode, opcode === 0xf1 ? 7 : 6, 1)
}

/** Ends the frame. */
export const selfdestruct: Statement = (writer) => {
  address(writer, false)
  writer.op(0xff, 1, 0)
}
