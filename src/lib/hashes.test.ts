import { ripemd160 as otherRipemd160 } from '@noble/hashes/legacy.js'
import { sha256 as otherSha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toHex } from './hex.ts'
import { keccak256, keccak256Hex, keccak256Of, keccak256Text } from './keccak.ts'
import { ripemd160 } from './ripemd160.ts'
import { sha256 } from './sha256.ts'

type Hash = (bytes: Uint8Array) => Uint8Array

it.each<[string, Hash, string]>([
  ['sha256', sha256, '0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  ['ripemd160', ripemd160, '0x8eb208f7e05d987a9b044a8e98c6b087f15a0bfc'],
  ['keccak', keccak256, '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45'],
])('lib/%s: returns the published digest of "abc" in a new array', (_name, hash, digest) => {
  const abc = new TextEncoder().encode('abc')
  const first = hash(abc)
  hash(new Uint8Array(200))
  expect(toHex(first)).toBe(digest)
  expect(first.buffer.byteLength).toBe(first.length)
})

it.each<[string, Hash, Hash]>([
  ['sha256', sha256, otherSha256],
  ['ripemd160', ripemd160, otherRipemd160],
  ['keccak', keccak256, keccak_256],
])('lib/%s: hashes any bytes, also a view of an array, as another implementation does', (_name, hash, other) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(40), (bytes, from) => {
      expect(hash(bytes.subarray(from))).toEqual(other(bytes.slice(from)))
    }),
  )
})

it('lib/keccak: keccak256Hex hashes a hex text of either case as its bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const hex = toHex(bytes)
      expect(keccak256Hex(hex)).toEqual(keccak_256(bytes))
      expect(keccak256Hex(`0x${hex.slice(2).toUpperCase()}`)).toEqual(keccak_256(bytes))
    }),
  )
  const most = new Uint8Array(32_639).fill(0xab)
  expect(keccak256Hex(toHex(most))).toEqual(keccak_256(most))
  expect(() => keccak256Hex(toHex(new Uint8Array(32_640)))).toThrow(RangeError)
})

it('lib/keccak: hashes a text as UTF-8, and parts as their concatenation', () => {
  expect(keccak256Text('Übertrag(€)')).toEqual(keccak_256(new TextEncoder().encode('Übertrag(€)')))
  expect(keccak256Of()).toEqual(keccak_256(new Uint8Array(0)))
  expect(keccak256Of(Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3))).toEqual(keccak_256(Uint8Array.of(1, 2, 3)))
})

it.each([65_279, 65_280, 65_281, 130_560, 130_561])('lib/keccak: hashes %i bytes at once and in parts of any size', (length) => {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255)
  const digest = keccak_256(bytes)
  expect(keccak256(bytes)).toEqual(digest)
  for (const size of [1_000, 65_279, 65_280, 65_281]) {
    const parts = Array.from({ length: Math.ceil(length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
    expect(keccak256Of(...parts)).toEqual(digest)
  }
})

it('lib/keccak: hashes a SharedArrayBuffer like any other bytes', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(100)).fill(7)
  expect(keccak256(shared.subarray(3))).toEqual(keccak_256(new Uint8Array(97).fill(7)))
  expect(keccak256Of(shared, shared)).toEqual(keccak_256(new Uint8Array(200).fill(7)))
})
