import type { Statement } from './statements.ts'
import type { Writer } from './writer.ts'

/** Statements that mostly halt the frame. They are rare; callers of the contract must handle the failure. */
export const doom: Statement = (writer) => {
  const { asm, random } = writer
  const kind = random.below(8)
  if (kind === 0) asm.op(0xfe)
  else if (kind === 1) intoPushData(writer)
  else if (kind === 2) {
    asm.push(random.below(0x400))
    asm.op(0x56)
  } else if (kind === 3) {
    asm.push(random.pick([2n ** 32n, 2n ** 64n, 2n ** 255n, 2n ** 31n]))
    asm.op(0x51)
  } else if (kind === 4) overflow(writer)
  else if (kind === 5) {
    for (let i = 0; i < 20; i++) asm.op(0x50)
  } else if (kind === 6) asm.op(random.pick([0x0c, 0x1f, 0x21, 0x4b, 0xa5, 0xb0, 0xef, 0xf6, 0xfb]))
  else {
    for (const value of [200, random.below(2) * 300, 0]) asm.push(value)
    asm.op(0x3e)
  }
}

/** Jumps to a JUMPDEST byte in the data of a PUSH, which is invalid. */
function intoPushData({ asm, random }: Writer): void {
  const size = random.between(1, 32)
  const data = new Uint8Array(size).fill(0x5b)
  asm.pushLabel(asm.data(new Uint8Array(0)))
  asm.op(0x50)
  const at = asm.size + 3 + 1
  asm.push(at + 1 + random.below(size), 2)
  asm.op(0x56, 0x5f + size, ...data)
}

/** Pushes in an endless loop. */
function overflow({ asm, random }: Writer): void {
  const start = asm.label()
  asm.place(start)
  for (let i = random.below(30); i >= 0; i--) asm.op(random.pick([0x30, 0x36, 0x58, 0x3d]))
  asm.pushLabel(start)
  asm.op(0x56)
}
