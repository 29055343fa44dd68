import { expect, it } from 'vitest'
import { halfSipHash } from './halfSipHash.ts'

/** Digests of the bytes 00 01 02 … by the key 00 01 … 07, by length. @see github.com/veorq/SipHash, vectors.h */
const published: readonly (readonly [number, string])[] = [
  [4, 'd5e78a175be52ea1'],
  [5, 'cb9d7c3f2f3db580'],
  [6, 'ce3e91358aa2bc25'],
  [7, 'ff202728b07bc684'],
  [8, 'edfee820bce4858c'],
  [9, '5b51cccc13888307'],
]

it.each(published)('state/digests/halfSipHash: has the published digest of %i bytes', (length, digest) => {
  const bytes = Uint8Array.from({ length }, (_, i) => i)
  const out = new Uint32Array(2)
  halfSipHash({ k0: 0x03020100, k1: 0x07060504 }, 0x03020100, bytes.subarray(4), out)
  expect(Buffer.from(out.buffer).toString('hex')).toBe(digest)
})
