import fc from 'fast-check'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { Address } from '#types/ids'

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values)

/** PUSH of a value with no more bytes than it has. */
function pushed(value: bigint): Uint8Array {
  const size = Math.max(1, Math.ceil(value.toString(16).length / 2))
  return concatBytes(bytes(0x5f + size), bytesFromBigint(value, size))
}

const edges = [0n, 1n, 2n, 31n, 32n, 255n, 256n, 2n ** 64n, 2n ** 128n - 1n, 2n ** 255n, 2n ** 255n - 1n, 2n ** 256n - 1n]
const word = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 300n }))
/** Small enough to cost little memory, mostly. */
const offset = fc.oneof({ weight: 200, arbitrary: fc.bigInt({ min: 0n, max: 200n }) }, { weight: 1, arbitrary: word })
const slot = fc.bigInt({ min: 0n, max: 5n })

/** Values on the stack, then an opcode. */
function step(opcode: number, ...operands: readonly fc.Arbitrary<bigint>[]): fc.Arbitrary<Uint8Array> {
  // The top of the stack is pushed last.
  return fc.tuple(...operands).map((values) => concatBytes(...values.toReversed().map(pushed), bytes(opcode)))
}

const between = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const oneOf = (opcodes: readonly number[], ...operands: readonly fc.Arbitrary<bigint>[]): fc.Arbitrary<Uint8Array> =>
  fc.constantFrom(...opcodes).chain((opcode) => step(opcode, ...operands))

const binary = oneOf(
  [...between(0x01, 0x07), 0x0a, 0x0b, ...between(0x10, 0x14), ...between(0x16, 0x18), ...between(0x1a, 0x1d)],
  word,
  word,
)
const unary = oneOf([0x15, 0x19], word)
const ternary = oneOf([0x08, 0x09], word, word, word)
/** All that need nothing and give a word, BLOCKHASH and PC included; some of them later forks have. */
const plain = oneOf([0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3a, 0x3d, ...between(0x41, 0x48), 0x4a, 0x58, 0x59, 0x5a, 0x5f])
const memory = fc.oneof(
  step(0x20, offset, offset),
  step(0x35, offset),
  oneOf([0x37, 0x39, 0x5e], offset, offset, offset),
  step(0x3e, offset, fc.constantFrom(0n, 0n, 1n), fc.constantFrom(0n, 1n, 32n)),
  step(0x51, offset),
  oneOf([0x52, 0x53], offset, word),
)
const storage = fc.oneof(step(0x54, slot), step(0x55, slot, fc.constantFrom(0n, 0n, 1n, 5n, 5n)), step(0x5c, slot), step(0x5d, slot, word))
const log = fc
  .constantFrom(0, 1, 2, 3, 4)
  .chain((topics) => step(0xa0 + topics, offset, offset, ...Array.from({ length: topics }, () => word)))
/** DUP and SWAP of what the start and the steps before have left. */
const shuffle = fc.constantFrom(...between(0x80, 0x84), ...between(0x90, 0x93), 0x50).map((opcode) => bytes(opcode))
/** Over a JUMPDEST or not, by a condition. */
const skip = word.map((condition) => concatBytes(pushed(condition), bytes(0x58, 0x60, 5, 0x01, 0x57, 0xfe, 0x5b)))
const end = fc.oneof(step(0xf3, offset, offset), step(0xfd, offset, offset), fc.constant(bytes(0x00)), fc.constant(bytes(0xfe)))

/** Initcode of a few bytes, put into memory and run. */
const creation = fc
  .tuple(
    fc.constantFrom('6001600055', '600a5f52600a6016f3', '60016000f3', '60ef60005360016000f3', '60006000fd', 'fe', ''),
    fc.boolean(),
    slot,
  )
  .map(([initcode, isSalted, value]) => {
    const code = fromHex(`0x${initcode}`)
    const padded = concatBytes(code, new Uint8Array(32 - code.length))
    const store = concatBytes(bytes(0x7f), padded, pushed(0n), bytes(0x52))
    const salt = isSalted ? pushed(value) : new Uint8Array(0)
    return concatBytes(store, salt, pushed(BigInt(code.length)), pushed(0n), pushed(value), bytes(isSalted ? 0xf5 : 0xf0))
  })

/** A call of any kind to one of the addresses, to itself or to a precompile. */
function call(addresses: readonly Address[]): fc.Arbitrary<Uint8Array> {
  const target = fc.constantFrom(...addresses.map(BigInt), 2n, 4n)
  const gas = fc.constantFrom(0n, 3_000n, 30_000n, 2n ** 64n)
  return fc.oneof(
    oneOf([0xf1, 0xf2], gas, target, slot, offset, offset, offset, offset),
    oneOf([0xf4, 0xfa], gas, target, offset, offset, offset, offset),
    oneOf([0x31, 0x3b, 0x3f], target),
    step(0x3c, target, offset, offset, offset),
  )
}

/** Code that mostly runs for a while: each step brings its own operands. */
export function randomProgram(addresses: readonly Address[]): fc.Arbitrary<Uint8Array> {
  const steps = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: binary },
      { weight: 1, arbitrary: unary },
      { weight: 1, arbitrary: ternary },
      { weight: 2, arbitrary: plain },
      { weight: 4, arbitrary: memory },
      { weight: 4, arbitrary: storage },
      { weight: 1, arbitrary: log },
      { weight: 3, arbitrary: shuffle },
      { weight: 1, arbitrary: skip },
      { weight: 3, arbitrary: call(addresses) },
      { weight: 1, arbitrary: creation },
    ),
    { minLength: 1, maxLength: 40 },
  )
  const start = fc.array(word, { minLength: 8, maxLength: 8 }).map((words) => concatBytes(...words.map(pushed)))
  return fc.tuple(start, steps, end).map(([first, middle, last]) => concatBytes(first, ...middle, last))
}
