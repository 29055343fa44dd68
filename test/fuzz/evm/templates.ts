// Contracts for what chance hardly ever puts together.
import { creation } from './messages.ts'
import { initcode } from './program.ts'
import type { Random } from './random.ts'
import { type Surroundings, Writer } from './writer.ts'

const writerFor = (random: Random, around: Surroundings): Writer => new Writer(random, around, { isReader: false, budget: 8 })

/** Calls itself with all its gas, down to the deepest frame if there is gas for it, and writes on the way back. */
export function deepCalls(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  const opcode = random.pick([0xf1, 0xf2, 0xf4, 0xfa])
  for (let i = random.pick([4, 4, 5]); i > 0; i--) asm.push(0)
  if (opcode === 0xf1 || opcode === 0xf2) asm.push(0)
  asm.op(0x30, 0x5a, opcode)
  if (opcode === 0xfa || random.percent(30)) asm.op(0x50)
  else {
    asm.push(random.below(2))
    asm.op(0x55)
  }
  if (random.percent(20)) asm.op(0x60, 0, 0x60, 0, 0xfd)
  return asm.finish()
}

/** Creates from its own code again and again: each new contract is a copy of it, and creates in turn while there is gas. */
function creatingItself(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  asm.op(0x38, 0x60, 0, 0x60, 0, 0x39)
  const isSalted = random.percent(50)
  if (isSalted) asm.op(0x30)
  asm.op(0x38, 0x60, 0, 0x60, random.below(2), isSalted ? 0xf5 : 0xf0)
  asm.push(random.below(3))
  asm.op(0x55, 0x60, random.below(64), 0x60, 0, 0xf3)
  return asm.finish()
}

/** Creates at the same place in a loop, changing a byte of the initcode or not, and calls what came of it: collisions, destruction, new code. */
function creatingInLoop(random: Random, around: Surroundings): Uint8Array {
  const writer = writerFor(random, around)
  const { asm } = writer
  const begin = asm.label()
  writer.push(random.between(2, 6))
  asm.place(begin)
  writer.inside(() => {
    writer.budget = 4
    creation(initcode)(writer)
    if (random.percent(40)) creation(initcode)(writer)
  })
  asm.push(1)
  asm.op(0x90, 0x03, 0x80)
  asm.pushLabel(begin)
  asm.op(0x57)
  return asm.finish()
}

/** Destroys itself; who calls it again in the same transaction finds it still there. */
function destroyed(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  if (random.percent(50)) asm.op(0x60, random.below(4), 0x60, random.below(4), 0x55)
  if (random.percent(30)) asm.op(0x30)
  else asm.push(BigInt(random.pick([...around.others, ...around.contracts])))
  asm.op(0xff)
  return asm.finish()
}

/** Answers with what it was given, all of it or part: by return or by revert. */
function echo(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  asm.op(0x36, 0x60, 0, 0x60, random.below(3), 0x37)
  if (random.percent(50)) asm.op(0x34, 0x60, random.below(5), 0x55)
  asm.op(0x36, 0x60, random.below(3), random.percent(70) ? 0xf3 : 0xfd)
  return asm.finish()
}

/** One is chosen for a contract now and then. */
export const templates: readonly ((random: Random, around: Surroundings) => Uint8Array)[] = [
  deepCalls,
  creatingItself,
  creatingInLoop,
  destroyed,
  echo,
]
