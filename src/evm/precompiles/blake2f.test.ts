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

/** One call: 12 rounds over 128 bytes of message, `count` bytes hashed so far. */
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

it('evm/blake2f: BLAKE2b built on it is that of the platform', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (data) => {
      expect(Buffer.from(blake2b(data)).toString('hex')).toBe(createHash('blake2b512').update(data).digest('hex'))
    }),
    { numRuns: 60 },
  )
})

it('evm/blake2f: another length, or a final byte above one, fails; a gas for each round', () => {
  const sound = call(iv, new Uint8Array(3), 3, 1)
  expect(blake2f.run(sound)).toHaveLength(64)
  expect(blake2f.run(sound.subarray(1))).toBeUndefined()
  expect(blake2f.run(concatBytes(sound, Uint8Array.of(1)))).toBeUndefined()
  expect(blake2f.run(call(iv, new Uint8Array(3), 3, 2))).toBeUndefined()
  expect(blake2f.gas(sound)).toBe(12n)
  expect(blake2f.gas(concatBytes(u32(0xffffffff), sound.subarray(4)))).toBe(0xffffffffn)
  expect(blake2f.gas(new Uint8Array(212))).toBe(0n)
})
