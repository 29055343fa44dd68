import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { encodeRlp, encodeRlpList } from '#lib/rlp'
import { codecProperties } from '#test/harness/codecProperties'
import { encodeChannel, transactionsIn } from '#test/harness/derive/channels'
import { type Batch, decodeBatch } from './batch.ts'
import { readBitlist } from './bitlist.ts'
import { decodeBlob, encodeBlob, maxBlobDataBytes } from './blob.ts'
import { ByteReader } from './byteReader.ts'
import { decompressChannel, readBatches } from './channel.ts'
import { type Decoded, decoding } from './decoded.ts'
import { decodeFrames, encodeFrames, type Frame } from './frame.ts'

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const zeros = (length: number): Uint8Array => new Uint8Array(length)

describe('derive/codec: round trips', () => {
  it.each(codecProperties)('$name', ({ property }) => fc.assert(property, { numRuns: 40 }))
})

const frame: Frame = { channelId: `0x${'ab'.repeat(16)}`, number: 3, data: bytes(1, 2, 3), isLast: true }
const encoded = encodeFrames([frame])

it('derive/codec/frame: encodes version, id, number, length, data, is_last', () => {
  expect(toHex(encoded)).toBe(`0x00${'ab'.repeat(16)}00030000000301020301`)
  expect(decodeFrames(encoded)).toEqual({ kind: 'decoded', value: [frame] })
})

it.each([
  ['no bytes', bytes()],
  ['a version without frames', bytes(0)],
  ['an unknown version', concatBytes(bytes(1), encoded.subarray(1))],
  ['is_last of 2', concatBytes(encoded.subarray(0, -1), bytes(2))],
  ['no is_last', encoded.subarray(0, -1)],
  ['a truncated second frame', concatBytes(encoded, encoded.subarray(1, 20))],
  ['one byte too many', concatBytes(encoded, bytes(0))],
  ['a length beyond the input', concatBytes(encoded.subarray(0, 19), bytes(0, 0, 0, 9), encoded.subarray(23))],
  ['more than 1,000,000 bytes of data', concatBytes(encoded.subarray(0, 19), bytes(0, 15, 66, 65), zeros(1_000_001), bytes(1))],
])('derive/codec/frame: %s invalidates the transaction', (_what, data) => {
  expect(decodeFrames(data).kind).toBe('malformed')
})

it('derive/codec/frame: reads and writes at most 1,000,000 bytes of data', () => {
  const largest = { ...frame, data: zeros(1_000_000) }
  expect(decodeFrames(encodeFrames([largest])).kind).toBe('decoded')
  expect(() => encodeFrames([{ ...frame, data: zeros(1_000_001) }])).toThrow(RangeError)
  expect(() => encodeFrames([])).toThrow(RangeError)
})

it.each([
  ['2^64 - 1', bytes(255, 255, 255, 255, 255, 255, 255, 255, 255, 1), 2n ** 64n - 1n],
  ['2^53 + 1', bytes(129, 128, 128, 128, 128, 128, 128, 16), 2n ** 53n + 1n],
  ['an encoding longer than necessary', bytes(128, 0), 0n],
])('derive/codec/byteReader: reads %s', (_what, input, value) => {
  expect(new ByteReader(input).uvarint()).toBe(value)
})

it.each([
  ['2^64', bytes(128, 128, 128, 128, 128, 128, 128, 128, 128, 2)],
  ['eleven bytes', bytes(128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0)],
  ['an unterminated integer', bytes(128)],
])('derive/codec/byteReader: refuses %s', (_what, input) => {
  expect(decoding(() => new ByteReader(input).uvarint()).kind).toBe('malformed')
})

it('derive/codec/bitlist: bit 0 is the lowest bit of the last byte; refuses bits beyond the list', () => {
  const list = readBitlist(new ByteReader(bytes(0b10, 0b1000_0001)), 10)
  expect([0, 1, 7, 8, 9].map((index) => list.has(index))).toEqual([true, false, true, false, true])
  expect(list.ones).toBe(3)
  expect(decoding(() => readBitlist(new ByteReader(bytes(0b100, 0)), 10)).kind).toBe('malformed')
})

describe('derive/codec/blob', () => {
  const blob = encodeBlob(bytes(1, 2, 3))
  const changed = (at: number, value: number): Uint8Array => {
    const copy = blob.slice()
    copy[at] = value
    return copy
  }

  it('holds at most 130,044 bytes', () => {
    const full = new Uint8Array(maxBlobDataBytes).fill(0xff)
    const decoded = decodeBlob(encodeBlob(full))
    expect(decoded.kind === 'decoded' && toHex(decoded.value) === toHex(full)).toBe(true)
    expect(() => encodeBlob(zeros(maxBlobDataBytes + 1))).toThrow(RangeError)
  })

  it('ignores the two high bits of the first field element, as op-node does', () => {
    const full = encodeBlob(zeros(maxBlobDataBytes).fill(0xff))
    full[0] = (full[0] ?? 0) | 0xc0
    expect(decodeBlob(changed(0, 0x40))).toEqual({ kind: 'decoded', value: bytes(1, 2, 3) })
    expect(decodeBlob(full)).toEqual({ kind: 'decoded', value: zeros(maxBlobDataBytes).fill(0xff) })
  })

  it.each([
    ['an unknown version', changed(1, 1)],
    ['a high bit in a field element', changed(32, 0x40)],
    ['a byte after the data', changed(40, 1)],
    ['a byte in the last field element', changed(131_071, 1)],
    ['a bit in the first byte of an element after the data', changed(64, 1)],
    ['a length above the maximum', changed(2, 2)],
    ['a missing byte', blob.subarray(1)],
  ])('%s invalidates the blob', (_what, spoilt) => {
    expect(decodeBlob(spoilt).kind).toBe('malformed')
  })
})

describe('derive/codec/batch', () => {
  const hash = zeros(32).fill(7)
  const body = [hash, bytes(1), hash, bytes(2), [bytes(2, 3)]]
  const singular = concatBytes(bytes(0), encodeRlp(body))
  const list = (count: number, piece: Uint8Array): Uint8Array => encodeRlpList(Array.from({ length: count }, () => piece))
  const singularOf = (count: number): Uint8Array => {
    const item = encodeRlp(hash)
    return concatBytes(bytes(0), encodeRlpList([item, bytes(1), item, bytes(2), list(count, bytes(1))]))
  }
  /** Returns a span with one transaction of type 1, whose access list has one address. */
  const spanOfKeys = (keys: Uint8Array): Uint8Array => {
    const entry = encodeRlpList([encodeRlp(zeros(20)), keys])
    const data = encodeRlpList([bytes(1), bytes(1), bytes(1), encodeRlpList([entry])])
    return concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(1), data, bytes(0, 0))
  }
  const blocksIn = (batch: Decoded<Batch>): (readonly Uint8Array[])[] =>
    batch.kind === 'decoded' && batch.value.kind === 'span'
      ? [...batch.value.blocks].map(({ transactions }) => transactionsIn(transactions))
      : []
  /** time 0, origin 0, checks, then the given bytes */
  const span = (...rest: number[]): Uint8Array => concatBytes(bytes(1, 0, 0), zeros(40), bytes(...rest))

  it('accepts a singular batch whose integers exceed 2^53', () => {
    const largest = fromHex('0xffffffffffffffff')
    const decoded = decodeBatch(concatBytes(bytes(0), encodeRlp([hash, largest, hash, largest, []])), 1)
    expect(decoded).toMatchObject({ kind: 'decoded', value: { epochNumber: 2n ** 64n - 1n, timestamp: 2n ** 64n - 1n } })
  })

  it('ignores bytes after a batch', () => {
    expect(decodeBatch(concatBytes(singular, bytes(9)), 1).kind).toBe('decoded')
    expect(decodeBatch(span(1, 0, 0, 9, 9), 1)).toMatchObject({ kind: 'decoded', value: { blockCount: 1 } })
    expect(blocksIn(decodeBatch(span(1, 0, 0, 9, 9), 1))).toEqual([[]])
  })

  it('accepts a span with one transaction of type 1', () => {
    const input = concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(1, 0xc4, 1, 1, 1, 0xc0, 0, 0))
    expect(decodeBatch(input, 1).kind).toBe('decoded')
  })

  it('accepts a span transaction with storage keys', () => {
    expect(decodeBatch(spanOfKeys(list(3, encodeRlp(hash))), 1).kind).toBe('decoded')
    expect(decodeBatch(spanOfKeys(list(3, encodeRlp(hash.subarray(1)))), 1).kind).toBe('malformed')
  })

  it('gives each block of a span its own transactions', () => {
    const data = bytes(0xc3, 1, 1, 1, 0xc3, 2, 2, 2, 0xc3, 3, 3, 3)
    const input = concatBytes(span(3, 0b110, 2, 0, 1, 0b111, 0), zeros(3 * 64), data, bytes(0, 0, 0, 0, 0, 0, 0))
    const prices = blocksIn(decodeBatch(input, 1)).map((raws) => raws.map((raw) => raw[2]))
    expect(prices).toEqual([[1, 2], [], [3]])
    expect(decodeBatch(input, 1)).toMatchObject({ kind: 'decoded', value: { blockCount: 3, originAdvances: 2 } })
  })

  it.each<[string, () => Uint8Array, number]>([
    ['a singular batch of 1,000,000 transactions', () => singularOf(1_000_000), 1],
    ['a singular batch that is a list of 1,000,000 fields', () => concatBytes(bytes(0), list(1_000_000, bytes(1))), 0],
    ['a span of 1,000,000 blocks', () => concatBytes(span(0xc0, 0x84, 0x3d), zeros(125_000 + 1_000_000)), 1],
    ['a span transaction with 1,000,000 malformed storage keys', () => spanOfKeys(list(1_000_000, bytes(1))), 0],
  ])('decodes %s without an object for each', (_what, encode, count) => {
    const input = encode()
    // garbage included; objects for each item need 70 to 330 bytes of heap for each byte of the input
    const before = process.memoryUsage().heapUsed
    const decoded = decodeBatch(input, 1)
    expect((process.memoryUsage().heapUsed - before) / input.length).toBeLessThan(40)
    expect(decoded.kind).toBe(count === 1 ? 'decoded' : 'malformed')
  })

  it.each([
    ['no bytes', bytes()],
    ['an unknown type', concatBytes(bytes(2), singular.subarray(1))],
    ['a sixth field', concatBytes(bytes(0), encodeRlp([...body, bytes(1)]))],
    ['a missing field', concatBytes(bytes(0), encodeRlp(body.slice(0, 4)))],
    ['a timestamp of 9 bytes', concatBytes(bytes(0), encodeRlp([hash, bytes(1), hash, zeros(9).fill(1), []]))],
    ['a transaction that is a list', concatBytes(bytes(0), encodeRlp([hash, bytes(1), hash, bytes(1), [[]]]))],
    ['a span without blocks', span(0)],
    ['a span of 10,000,001 blocks', concatBytes(span(129, 173, 226, 4), zeros(12_000_000))],
    ['a span of 10,000,001 transactions', concatBytes(span(2, 0, 128, 173, 226, 4, 1), zeros(2_000_000))],
    ['origin bits beyond the blocks', span(1, 2, 0)],
    ['a span truncated in its transactions', span(1, 0, 1)],
    ['a transaction of type 3 in a span', concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(3, 0xc5, 1, 1, 1, 1, 0xc0, 0, 0))],
    [
      'a span transaction with an explicit type byte 0',
      concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(0, 0xc3, 1, 1, 1, 0, 0, 1)),
    ],
    [
      'a span transaction whose access list is not a list',
      concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(1, 0xc4, 1, 1, 1, 1, 0, 0)),
    ],
    [
      'a span transaction whose value has a leading zero',
      concatBytes(span(1, 0, 1, 0, 0), zeros(64), zeros(20), bytes(1, 0xc6, 0x82, 0, 1, 1, 1, 0xc0, 0, 0)),
    ],
  ])('%s is malformed', (_what, input) => {
    expect(decodeBatch(input, 1).kind).toBe('malformed')
  })
})

describe('derive/codec/channel', () => {
  const rules = { maxRlpBytes: 10_000, allowsBrotli: true }
  const read = (rlp: Uint8Array): number => {
    const reader = readBatches(rlp, 1)
    let count = 0
    while (reader.next() !== undefined) count++
    return count
  }
  const one = decodeBatch(concatBytes(bytes(0), encodeRlp([zeros(32), bytes(1), zeros(32), bytes(2), []])), 1)
  if (one.kind !== 'decoded') throw new Error(one.reason)
  const three = [one.value, one.value, one.value]
  const size = decompressChannel(encodeChannel([one.value], 1, 'zlib'), rules).length

  it.each(['zlib', 'brotli'] as const)('%s: ignores data beyond the limit and reads the batches before it', (compression) => {
    const channel = encodeChannel(three, 1, compression)
    const within = (maxRlpBytes: number): number => read(decompressChannel(channel, { ...rules, maxRlpBytes }))
    expect([3 * size, 3 * size - 1, 2 * size, 2 * size - 1, 0].map(within)).toEqual([3, 2, 2, 1, 0])
  })

  it('ignores brotli where it is not allowed', () => {
    const channel = encodeChannel(three, 1, 'brotli')
    expect(read(decompressChannel(channel, { ...rules, allowsBrotli: false }))).toBe(0)
  })

  it.each([
    ['no bytes', bytes()],
    ['an unknown version', bytes(2, 1, 1)],
    ['a zlib header with another method', bytes(0x7f, 0x85, 1)],
    ['an invalid brotli stream', bytes(1, 0xff, 0xff, 0xff)],
  ])('reads no batches from %s', (_what, channel) => {
    expect(read(decompressChannel(channel, rules))).toBe(0)
  })

  it('a malformed batch ends the channel', () => {
    const rlp = decompressChannel(encodeChannel([one.value], 1, 'zlib'), rules)
    expect(read(concatBytes(rlp, encodeRlp(bytes(9, 9)), rlp))).toBe(1)
    expect(read(concatBytes(rlp, encodeRlp([bytes(0)]), rlp))).toBe(1)
  })
})
