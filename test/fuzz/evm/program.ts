// Whole contracts: random statements, an end, and the initcode for them.
import { branch, computedJump, loop, subroutine, untakenJump } from './control.ts'
import { doom } from './doom.ts'
import { askAccount, call, creation, precompile, selfdestruct } from './messages.ts'
import type { Random } from './random.ts'
import { arithmetic, environment, log, memory, reveal, type Statement, shuffle, storage } from './statements.ts'
import { type Surroundings, Writer } from './writer.ts'

type Table = readonly (readonly [weight: number, statement: Statement])[]

const cheap: Table = [
  [30, arithmetic],
  [8, environment],
  [14, shuffle],
  [22, memory],
  [14, storage],
  [5, log],
  [4, reveal],
  [6, branch(body)],
  [13, loop(body)],
  [4, computedJump],
  [2, untakenJump],
  [4, subroutine(body)],
  [3, askAccount],
]
/** Statements that cost thousands of gas are rare in loops. */
const outside: Table = [...cheap, [9, call], [4, precompile], [4, creation(initcode)]]
const inside: Table = [...cheap, [2, call], [1, precompile]]

const mostWords = 40

function body(writer: Writer, most: number): void {
  for (let i = writer.random.between(1, most); i > 0 && writer.budget > 0; i--) {
    writer.budget--
    if (writer.random.percent(0.1)) doom(writer)
    writer.random.weighted(writer.nesting === 0 ? outside : inside)(writer)
    if (writer.height - writer.floor > mostWords) writer.settle(writer.floor + 4)
  }
}

/** End of a contract: mostly a success that returns words of the stack and memory. */
function end(writer: Writer): void {
  const { random, asm } = writer
  if (!writer.isReader && random.percent(50)) {
    while (writer.height > 1) writer.op(random.pick([0x18, 0x01, 0x03]), 2, 1)
    writer.settle(1)
    writer.push(random.below(6))
    writer.op(0x55, 2, 0)
  }
  const kind = random.below(20)
  if (kind < 5) asm.op(0x00)
  else if (kind < 7) return
  else if (kind < 8 && random.percent(25)) doom(writer)
  else if (kind < 9 && !writer.isReader) selfdestruct(writer)
  else {
    if (random.percent(30)) {
      asm.op(0x59)
      asm.push(0)
    } else {
      writer.size()
      writer.offset()
    }
    asm.op(kind < 10 ? 0xfd : 0xf3)
  }
}

function start(writer: Writer): void {
  for (let i = writer.random.below(10); i > 0; i--) writer.push(writer.random.word())
}

/** Contract that may change any state. */
export function contract(random: Random, around: Surroundings): Uint8Array {
  const writer = new Writer(random, around, { isReader: false, budget: random.between(12, 80) })
  start(writer)
  if (random.percent(60)) loop(body)(writer)
  body(writer, writer.budget)
  end(writer)
  return writer.asm.finish()
}

/** Contract that changes no state. */
export function reader(random: Random, around: Surroundings): Uint8Array {
  const writer = new Writer(random, around, { isReader: true, budget: random.between(4, 40) })
  start(writer)
  body(writer, writer.budget)
  end(writer)
  return writer.asm.finish()
}

/** Small run-time code of a created contract: it returns, writes, destroys itself, or is invalid. */
function runtime(random: Random, around: Surroundings): Uint8Array {
  const kind = random.below(10)
  if (kind < 3) {
    const writer = new Writer(random, around, { isReader: false, budget: random.between(1, 6) })
    writer.nesting = 3
    body(writer, 6)
    end(writer)
    return writer.asm.finish()
  }
  if (kind < 6) {
    const writer = new Writer(random, around, { isReader: false, budget: 0 })
    storage(writer)
    writer.settle(0)
    selfdestruct(writer)
    return writer.asm.finish()
  }
  if (kind < 7) return Uint8Array.of(0xef, ...random.bytes(random.below(24)))
  return random.bytes(random.below(40))
}

/** Runs a few statements, then mostly returns run-time code that follows it. */
export function initcode({ random, around, nesting }: Pick<Writer, 'random' | 'around' | 'nesting'>): Uint8Array {
  const writer = new Writer(random, around, { isReader: false, budget: random.below(5) })
  writer.nesting = Math.max(2, nesting + 1)
  if (random.percent(60)) body(writer, 4)
  const kind = random.below(20)
  if (kind < 2) end(writer)
  else {
    const code = runtime(random, around)
    const at = writer.asm.data(code)
    writer.push(code.length)
    writer.asm.pushLabel(at)
    writer.height++
    writer.push(0)
    writer.op(0x39, 3, 0)
    writer.push(random.percent(95) ? code.length : random.below(code.length + 40))
    writer.push(0)
    writer.asm.op(0xf3)
  }
  return writer.asm.finish()
}
