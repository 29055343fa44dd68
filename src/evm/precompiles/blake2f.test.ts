import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { blake2f } from './blake2f.ts'

const iv = fromHex(
  '0x08c9bcf367e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b',
)

const u32 = (value: number): Uint8Array => Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value)

/** Calls the precompile: 12 rounds over a message block of 128 bytes, with `count` bytes hashed so far. */
function call(h: Uint8Array, block: Uint8Array, count: number, final: number): Uint8Array {
  const message = new Uint8Array(128)
  message.set(block)
  const offset = new Uint8Array(16)
  new DataView(offset.buffer).setUint32(0, count, true)
  return concatBytes(u32(12), h, message, offset, Uint8Array.of(final))
}

/** BLAKE2b-512 built from the precompile. */
function blake2b(data: Uint8Array): Uint8Array {
  let h = Uint8Array.from(iv)
  h[0] = (h[0] ?? 0) ^ 64
  h[2] = (h[2] ?? 0) ^ 1
  h[3] = (h[3] ?? 0) ^ 1
  let at = 0
  for (; at + 128 < data.length; at += 128) h = Uint8Array.from(blake2f.run(call(h, data.subarray(at, at + 128), at + 128, 0)) ?? [])
  return blake2f.run(call(h, data.subarray(at), data.length, 1)) ?? new Uint8Array(0)
}

it("evm/blake2f: BLAKE2b built on it equals the platform's", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (data) => {
      expect(Buffer.from(blake2b(data)).toString('hex')).toBe(createHash('blake2b512').update(data).digest('hex'))
    }),
    { numRuns: 60 },
  )
})

const mask = 2n ** 64n - 1n
const rotated = (word: bigint, bits: bigint): bigint => (word >> bits) | ((word << (64n - bits)) & mask)
const wordsOf = (bytes: Uint8Array): bigint[] => Array.from(new BigUint64Array(Uint8Array.from(bytes).buffer))
/** Message word order of each round in the notation of RFC 7693, 2.7, as hexadecimal digits. */
const orders = ['0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8', '905724afe1bc683d']
const moreOrders = ['2c6a0b834d75fe19', 'c51fed4a0763928b', 'db7ec13950f4862a', '6fe9b308c2d714a5', 'a2847615fb9e3cd0']
const lanes = ['048c', '159d', '26ae', '37bf', '05af', '16bc', '278d', '349e']
const digits = (text: string | undefined): number[] => [...(text ?? '')].map((letter) => Number.parseInt(letter, 16))

/** Computes F word by word as the RFC describes it, after one byte and before the last block. */
function slowF(h: Uint8Array, block: Uint8Array, rounds: number): Uint8Array {
  const [before, message] = [wordsOf(h), wordsOf(block)]
  const v = [...before, ...wordsOf(iv)]
  v[12] = (v[12] ?? 0n) ^ 1n
  const at = (index = 0): bigint => v[index] ?? 0n
  for (let round = 0; round < rounds; round++) {
    const order = digits([...orders, ...moreOrders][round % 10])
    for (const [i, lane] of lanes.entries()) {
      const [a = 0, b = 0, c = 0, d = 0] = digits(lane)
      for (const [half, first, second] of [
        [0, 32n, 24n],
        [1, 16n, 63n],
      ] as const) {
        v[a] = (at(a) + at(b) + (message[order[2 * i + half] ?? 0] ?? 0n)) & mask
        v[d] = rotated(at(d) ^ at(a), first)
        v[c] = (at(c) + at(d)) & mask
        v[b] = rotated(at(b) ^ at(c), second)
      }
    }
  }
  return new Uint8Array(BigUint64Array.from(before, (word, i) => word ^ at(i) ^ at(i + 8)).buffer)
}

it.each([0, 1, 9, 11, 2_003])("evm/blake2f: %i rounds equal the RFC's, also beyond one call of the module", (rounds) => {
  const [h, block] = [new Uint8Array(64).map((_, i) => i * 5), new Uint8Array(128).map((_, i) => (i * 11) ^ (i >> 1))]
  const offset = new Uint8Array(16)
  offset[0] = 1
  expect(blake2f.run(concatBytes(u32(rounds), h, block, offset, Uint8Array.of(0)))).toEqual(slowF(h, block, rounds))
})

it('evm/blake2f: rejects another length and a final byte above one; charges one gas per round', () => {
  const sound = call(iv, new Uint8Array(3), 3, 1)
  expect(blake2f.run(sound)).toHaveLength(64)
  expect(blake2f.run(sound.subarray(1))).toBeUndefined()
  expect(blake2f.run(concatBytes(sound, Uint8Array.of(1)))).toBeUndefined()
  expect(blake2f.run(call(iv, new Uint8Array(3), 3, 2))).toBeUndefined()
  expect(blake2f.gas(sound)).toBe(12n)
  expect(blake2f.gas(concatBytes(u32(0xffffffff), sound.subarray(4)))).toBe(0xffffffffn)
  expect(blake2f.gas(new Uint8Array(212))).toBe(0n)
})
