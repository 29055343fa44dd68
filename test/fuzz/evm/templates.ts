// Contracts for combinations that random statements hardly ever produce.
import { creation } from './messages.ts'
import { initcode } from './program.ts'
import type { Random } from './random.ts'
import { type Surroundings, Writer } from './writer.ts'

const writerFor = (random: Random, around: Surroundings): Writer => new Writer(random, around, { isReader: false, budget: 8 })

/** Calls itself with all gas, down to the depth limit if the gas suffices, and writes on return. */
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

/** Creates copies of itself repeatedly; each copy creates in turn while gas is left. */
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

/** Creates at the same address in a loop, with the same or changed initcode, and calls the contract: collisions, destruction, new code. */
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

/** Destroys itself; a later caller in the same transaction still finds it. */
function destroyed(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  if (random.percent(50)) asm.op(0x60, random.below(4), 0x60, random.below(4), 0x55)
  if (random.percent(30)) asm.op(0x30)
  else asm.push(BigInt(random.pick([...around.others, ...around.contracts])))
  asm.op(0xff)
  return asm.finish()
}

/** Returns or reverts with all or part of its input. */
function echo(random: Random, around: Surroundings): Uint8Array {
  const { asm } = writerFor(random, around)
  asm.op(0x36, 0x60, 0, 0x60, random.below(3), 0x37)
  if (random.percent(50)) asm.op(0x34, 0x60, random.below(5), 0x55)
  asm.op(0x36, 0x60, random.below(3), random.percent(70) ? 0xf3 : 0xfd)
  return asm.finish()
}

/** One of these is used as a contract now and then. */
export const templates: readonly ((random: Random, around: Surroundings) => Uint8Array)[] = [
  deepCalls,
  creatingItself,
  creatingInLoop,
  destroyed,
  echo,
]
