// Statements that jump: branches, loops, functions, computed targets.
import type { Statement } from './statements.ts'
import type { Writer } from './writer.ts'

/** Writes at most `most` statements, or fewer when the budget is used up. */
export type Body = (writer: Writer, most: number) => void

/** Branch to one of two bodies, or to one or none. */
export function branch(body: Body): Statement {
  return (writer) => {
    const { asm, random } = writer
    const [otherwise, end] = [asm.label(), asm.label()]
    if (random.percent(50)) writer.word()
    else writer.push(random.below(2))
    asm.pushLabel(otherwise)
    writer.op(0x57, 1, 0)
    writer.inside(() => body(writer, 4))
    asm.pushLabel(end)
    asm.op(0x56)
    asm.place(otherwise)
    if (random.percent(50)) writer.inside(() => body(writer, 4))
    asm.place(end)
  }
}

/** Loop whose counter stays on the stack below the body. */
export function loop(body: Body): Statement {
  return (writer) => {
    const { asm, random } = writer
    if (writer.nesting > 2) return
    const start = asm.label()
    writer.push(
      writer.nesting > 0
        ? random.between(1, 4)
        : random.weighted([
            [5, random.between(2, 12)],
            [5, random.between(12, 40)],
            [1, 120],
          ]),
    )
    asm.place(start)
    writer.inside(() => body(writer, random.between(2, 8)))
    if (random.percent(50)) {
      writer.push(1)
      writer.op(0x90, 0, 0)
      writer.op(0x03, 2, 1)
    } else {
      writer.push(2n ** 256n - 1n)
      writer.op(0x01, 2, 1)
    }
    writer.op(0x80, 0, 1)
    asm.pushLabel(start)
    writer.op(0x57, 1, 0)
    writer.op(0x50, 1, 0)
  }
}

/** Jumps to the next instruction by a target that is computed or read from memory. */
export const computedJump: Statement = (writer) => {
  const { asm, random } = writer
  const target = asm.label()
  const kind = random.below(4)
  if (kind === 0) {
    const part = random.below(200)
    asm.pushLabel(target, (place) => place - part)
    asm.push(part)
    asm.op(0x01)
  } else if (kind === 1) {
    const mask = random.below(0x10000)
    asm.pushLabel(target, (place) => place ^ mask)
    asm.push(mask)
    asm.op(0x18)
  } else if (kind === 2) {
    asm.pushLabel(target)
    asm.push(random.below(8) * 32)
    asm.op(0x80, 0x91, 0x90, 0x52, 0x51)
  } else {
    // Condition below the target: JUMPI takes the jump, or falls through to a JUMP to the same target.
    asm.push(random.below(2))
    asm.pushLabel(target)
    asm.op(0x57)
    asm.pushLabel(target)
  }
  asm.op(0x56)
  if (random.percent(40)) asm.op(...random.bytes(random.between(1, 6)).filter((byte) => byte < 0x60 || byte > 0x7f))
  asm.place(target)
}

/** Conditional jump that is not taken, to any target. */
export const untakenJump: Statement = (writer) => {
  writer.push(0)
  if (writer.random.percent(50)) writer.word()
  else writer.push(writer.random.below(400))
  writer.op(0x57, 2, 0)
}

/** Function after the other code. It is called from one or two places and returns to the position that the caller pushed. */
export function subroutine(body: Body): Statement {
  return (writer) => {
    const { asm, random } = writer
    if (writer.nesting > 1) return
    const [start, past] = [asm.label(), asm.label()]
    const returns = Array.from({ length: random.between(1, 2) }, () => asm.label())
    for (const back of returns) {
      asm.pushLabel(back)
      asm.pushLabel(start)
      asm.op(0x56)
      asm.place(back)
    }
    asm.pushLabel(past)
    asm.op(0x56)
    asm.place(start)
    writer.height++
    writer.inside(() => body(writer, 4))
    writer.op(0x56, 1, 0)
    asm.place(past)
  }
}
