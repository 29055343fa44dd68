import fc from 'fast-check'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { decodeSnappyBlock, encodeSnappyBlock } from '#lib/peers/snappy'
import { decodeBody } from './envelope.ts'
import { decodeFramedSnappy, encodeFramedSnappy } from './framedSnappy.ts'
import { decodeRequest, decodeResponse, encodeFailure, encodeRequest } from './payloadRequest.ts'
import { blockVersions } from './topics.ts'

const bytes = fc.uint8Array({ maxLength: 2_000 })
/** Repetitive data: the compressor emits copies. */
const repetitive = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 7 }), fc.integer({ min: 1, max: 20_000 })).map(([unit, times]) => {
  const out = new Uint8Array(unit.length * times)
  for (let i = 0; i < times; i++) out.set(unit, i * unit.length)
  return out
})

it('lib/snappy: reads what a library wrote', () => {
  fc.assert(
    fc.property(fc.oneof(bytes, repetitive), (data) => {
      expect(decodeSnappyBlock(encodeSnappyBlock(data), data.length)).toEqual(data)
      if (data.length > 0) expect(decodeSnappyBlock(encodeSnappyBlock(data), data.length - 1)).toBeUndefined()
    }),
    { numRuns: 12 },
  )
})

it.each([
  ['empty', []],
  ['header of six bytes', [0x80, 0x80, 0x80, 0x80, 0x80, 0]],
  ['header above a u32', [0xff, 0xff, 0xff, 0xff, 0x7f]],
  ['literal beyond the input', [4, 0x0c, 1, 2]],
  ['literal beyond the declared length', [2, 0x08, 1, 2, 3]],
  ['less than declared', [3, 0x04, 1, 2]],
  ['copy before the start', [8, 0x04, 1, 2, 0x09, 3]],
  ['copy of offset zero', [8, 0x04, 1, 2, 0x09, 0]],
  ['copy beyond the declared length', [4, 0x04, 1, 2, 0x0d, 2]],
  ['truncated copy', [8, 0x04, 1, 2, 0x0a, 1]],
])('lib/snappy: rejects a block: %s', (_, block) => {
  expect(decodeSnappyBlock(Uint8Array.from(block), 1_000)).toBeUndefined()
})

it('lib/snappy: repeats overlapping copies', () => {
  // literal "ab", then six bytes from two bytes back
  expect(decodeSnappyBlock(Uint8Array.of(8, 0x04, 97, 98, 0x09, 2), 8)).toEqual(new TextEncoder().encode('abababab'))
})

it('p2p/protocol: decoders return a value or a refusal for any bytes', () => {
  fc.assert(
    fc.property(bytes, (data) => {
      decodeSnappyBlock(data, 10_000)
      decodeFramedSnappy(data, 10_000)
      decodeRequest(data)
      decodeResponse(data)
      for (const version of blockVersions) decodeBody(data, version)
    }),
    { numRuns: 200 },
  )
})

it('p2p/protocol/framedSnappy: reads its own streams of several chunks, and skips padding', () => {
  fc.assert(
    fc.property(fc.oneof(bytes, repetitive), (data) => {
      expect(decodeFramedSnappy(encodeFramedSnappy(data), data.length)).toEqual(data)
    }),
    { numRuns: 8 },
  )
  const stream = encodeFramedSnappy(Uint8Array.of(1, 2, 3))
  expect(decodeFramedSnappy(concatBytes(stream, Uint8Array.of(0xfe, 1, 0, 0, 9)), 10)).toEqual(Uint8Array.of(1, 2, 3))
})

it.each([
  ['without identifier', (stream: Uint8Array): Uint8Array => stream.subarray(10)],
  ['truncated', (stream: Uint8Array): Uint8Array => stream.subarray(0, -1)],
  ['with a wrong checksum', (stream: Uint8Array): Uint8Array => stream.with(14, (stream[14] ?? 0) ^ 1)],
  ['with an unknown chunk', (stream: Uint8Array): Uint8Array => concatBytes(stream, Uint8Array.of(0x02, 0, 0, 0))],
  ['above the bound', (stream: Uint8Array): Uint8Array => concatBytes(stream, stream.subarray(10))],
])('p2p/protocol/framedSnappy: rejects a stream %s', (_, change) => {
  expect(decodeFramedSnappy(change(encodeFramedSnappy(new Uint8Array(100))), 150)).toBeUndefined()
})

it('p2p/protocol/payloadRequest: numbers are u64 little-endian; shorter requests and numbers of 2^53 and above are refused', () => {
  expect([...encodeRequest(0x0102)]).toEqual([2, 1, 0, 0, 0, 0, 0, 0])
  expect(decodeRequest(encodeRequest(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER)
  expect(decodeRequest(Uint8Array.of(1, 0, 0, 0, 0, 0, 0))).toBeUndefined()
  expect(decodeRequest(new Uint8Array(8).fill(0xff))).toBeUndefined()
  expect(decodeResponse(encodeFailure('notFound'))).toEqual({ kind: 'notFound' })
  expect(decodeResponse(Uint8Array.of(0, 3, 0, 0, 0))).toEqual({ kind: 'malformed', reason: 'version 3' })
})
