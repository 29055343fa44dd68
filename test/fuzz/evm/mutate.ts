import type { Random } from './random.ts'

/** Code with a few bytes changed, inserted, removed, or replaced by a piece of other code. */
export function mutated(random: Random, code: Uint8Array, other: Uint8Array): Uint8Array {
  const bytes = [...code]
  for (let i = random.between(1, 4); i > 0; i--) {
    const at = random.below(Math.max(1, bytes.length))
    const kind = random.below(6)
    if (kind < 2) bytes[at] = random.below(256)
    else if (kind === 2) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    else if (kind === 3) bytes.splice(at, 0, ...random.bytes(random.between(1, 4)))
    else if (kind === 4) bytes.splice(at, random.between(1, 4))
    else bytes.splice(at, random.below(20), ...other.subarray(random.below(other.length), random.below(other.length)).subarray(0, 40))
  }
  return Uint8Array.from(bytes.slice(0, 24_576))
}

/** Calldata for the contract's code: a number that the code compares with, and words. */
export function inputFor(random: Random, code: Uint8Array): Uint8Array {
  const selectors: number[] = []
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at] ?? 0
    if (opcode === 0x63) selectors.push(at + 1)
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f
  }
  if (selectors.length === 0 || random.percent(20)) return random.bytes(random.below(100))
  const at = random.pick(selectors)
  const words = Array.from({ length: random.below(4) * 32 }, (_, i) => (i % 32 < random.pick([12, 28, 31]) ? 0 : random.below(256)))
  return Uint8Array.of(...code.subarray(at, at + 4), ...words)
}
