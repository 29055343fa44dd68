import fc from 'fast-check'
import { encodeBatch, encodeChannel } from '#test/harness/derive/channels'
import { decodeBatch } from '../../src/derive/codec/batch.ts'
import { decodeBlob, encodeBlob } from '../../src/derive/codec/blob.ts'
import { ByteReader, encodeUvarint } from '../../src/derive/codec/byteReader.ts'
import { decompressChannel, readBatches } from '../../src/derive/codec/channel.ts'
import { decodeFrames, encodeFrames } from '../../src/derive/codec/frame.ts'
import { equalBytes } from '../../src/lib/bytes.ts'
import { decodeRlp, encodeRlp, RlpError, type RlpItem } from '../../src/lib/rlp.ts'
import { decodeHeader, encodeHeader } from '../../src/types/header.ts'
import { decodeReceipt, encodeReceipt } from '../../src/types/receipt.ts'
import { decodeTransaction, encodeTransaction } from '../../src/types/transaction.ts'
import { arbitraryChainId, batch, frame, hash, hostile, signedTransaction, singularBatch, spanBatch, u64 } from './arbitraries.ts'

export type CodecProperty = { readonly name: string; readonly property: fc.IProperty<unknown[]> }

const isIterable = (field: unknown): field is Iterable<unknown> => typeof field === 'object' && field !== null && Symbol.iterator in field

/** Compares two values by all of their fields; byte arrays and other iterables are equal when their elements are. */
function same(a: unknown, b: unknown): boolean {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? `${field}n` : isIterable(field) ? [...field] : field))
  return text(a) === text(b)
}

/** Returns undefined when a reader throws RlpError; any other error fails the property. */
function refused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RlpError) return undefined
    throw error
  }
}

const property = <T extends unknown[]>(name: string, made: fc.IProperty<T>): CodecProperty => ({
  name,
  property: made as unknown as fc.IProperty<unknown[]>,
})

const batches = fc.array(batch, { minLength: 1, maxLength: 4 })
const frames = fc.array(frame, { minLength: 1, maxLength: 4 })
const compression = fc.constantFrom('zlib' as const, 'brotli' as const)
const rules = { maxRlpBytes: 10_000_000, allowsBrotli: true }
const rlpItem: fc.Arbitrary<RlpItem> = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof({ maxDepth: 4 }, fc.uint8Array({ maxLength: 70 }), fc.array(tie('item'), { maxLength: 5 })),
})).item

function readAll(channel: Uint8Array): unknown[] {
  const reader = readBatches(decompressChannel(channel, rules), arbitraryChainId)
  const read: unknown[] = []
  for (let next = reader.next(); next !== undefined; next = reader.next()) read.push(next)
  return read
}

const roundTrips: readonly CodecProperty[] = [
  property(
    'uvarint: every u64',
    fc.property(u64, (value) => new ByteReader(encodeUvarint(value)).uvarint() === value),
  ),
  property(
    'frames',
    fc.property(frames, (all) => same(decodeFrames(encodeFrames(all)), { kind: 'decoded', value: all })),
  ),
  property(
    'blob',
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 500 }), fc.uint8Array({ minLength: 130_000, maxLength: 130_044 })), (data) => {
      const decoded = decodeBlob(encodeBlob(data))
      return decoded.kind === 'decoded' && equalBytes(decoded.value, data)
    }),
  ),
  property(
    'singular batch',
    fc.property(singularBatch, (one) => same(decodeBatch(encodeBatch(one, 1), 1), { kind: 'decoded', value: one })),
  ),
  property(
    'span batch',
    fc.property(spanBatch, (one) =>
      same(decodeBatch(encodeBatch(one, arbitraryChainId), arbitraryChainId), { kind: 'decoded', value: one }),
    ),
  ),
  property(
    'channel',
    fc.property(batches, compression, (all, how) => same(readAll(encodeChannel(all, arbitraryChainId, how)), all)),
  ),
  property(
    'channel cut at any byte: decodes to its first batches',
    fc.property(batches, compression, fc.nat(), (all, how, at) => {
      const channel = encodeChannel(all, arbitraryChainId, how)
      const read = readAll(channel.subarray(0, at % channel.length))
      return read.length <= all.length && same(read, all.slice(0, read.length))
    }),
  ),
  property(
    'transaction',
    fc.property(signedTransaction, (tx) => {
      const raw = encodeTransaction(tx)
      return equalBytes(encodeTransaction(decodeTransaction(raw)), raw)
    }),
  ),
  property(
    'rlp',
    fc.property(rlpItem, (item) => same(decodeRlp(encodeRlp(item)), item)),
  ),
]

const header = fc
  .record({ scalars: fc.array(u64, { minLength: 7, maxLength: 7 }), hashes: fc.array(hash, { minLength: 5, maxLength: 5 }) })
  .map(({ scalars, hashes }) =>
    encodeRlp([
      ...hashes.slice(0, 2).map((text) => Buffer.from(text.slice(2), 'hex')),
      new Uint8Array(20),
      ...hashes.slice(2).map((text) => Buffer.from(text.slice(2), 'hex')),
      new Uint8Array(256),
      ...scalars.slice(0, 5).map((value) =>
        Buffer.from(
          value === 0n
            ? ''
            : value
                .toString(16)
                .padStart(16, '0')
                .replace(/^(00)+/, ''),
          'hex',
        ),
      ),
      new Uint8Array(3),
      new Uint8Array(32),
      new Uint8Array(8),
    ]),
  )
const receipt = fc
  .record({ gas: u64, ok: fc.boolean(), type: fc.constantFrom(0, 2, 0x7e) })
  .map(({ gas, ok, type }) => encodeReceipt({ type, succeeded: ok, cumulativeGasUsed: gas, logsBloom: new Uint8Array(256), logs: [] }))

/** Arbitrary bytes decode to a value or to the declared error; a value that was decoded completely encodes to the same bytes. */
const refusals: readonly CodecProperty[] = [
  property(
    'hostile frames',
    fc.property(hostile(frames.map(encodeFrames)), (bytes) => {
      const decoded = decodeFrames(bytes)
      return decoded.kind === 'malformed' || equalBytes(encodeFrames(decoded.value), bytes)
    }),
  ),
  property(
    'hostile blob',
    fc.property(hostile(fc.uint8Array({ maxLength: 200 })), fc.nat(131_071), fc.nat(255), (data, at, value) => {
      const blob = encodeBlob(data)
      blob[at] = value
      const decoded = decodeBlob(blob)
      blob[0] = (blob[0] ?? 0) & 0x3f // the two high bits of the first byte are ignored
      return decoded.kind === 'malformed' || equalBytes(encodeBlob(decoded.value), blob)
    }),
  ),
  property(
    'hostile batch',
    fc.property(hostile(batch.map((one) => encodeBatch(one, arbitraryChainId))), (bytes) => {
      const decoded = decodeBatch(bytes, arbitraryChainId)
      if (decoded.kind === 'malformed') return true
      return same(decodeBatch(encodeBatch(decoded.value, arbitraryChainId), arbitraryChainId), decoded)
    }),
  ),
  property(
    'hostile channel',
    fc.property(hostile(fc.tuple(batches, compression).map(([all, how]) => encodeChannel(all, arbitraryChainId, how))), (bytes) =>
      Array.isArray(readAll(bytes)),
    ),
  ),
  property(
    'hostile transaction',
    fc.property(hostile(signedTransaction.map(encodeTransaction)), (bytes) => {
      const tx = refused(() => decodeTransaction(bytes))
      return tx === undefined || encodeTransaction(tx).length > 0
    }),
  ),
  property(
    'hostile rlp',
    fc.property(hostile(rlpItem.map(encodeRlp)), (bytes) => {
      const item = refused(() => decodeRlp(bytes))
      return item === undefined || equalBytes(encodeRlp(item), bytes)
    }),
  ),
  property(
    'hostile header',
    fc.property(hostile(header), (bytes) => {
      const decoded = refused(() => decodeHeader(bytes))
      return decoded === undefined || equalBytes(encodeHeader(decoded), bytes)
    }),
  ),
  property(
    'hostile receipt',
    fc.property(hostile(receipt), (bytes) => {
      const decoded = refused(() => decodeReceipt(bytes))
      return decoded === undefined || encodeReceipt(decoded).length > 0
    }),
  ),
]

export const codecProperties: readonly CodecProperty[] = [...roundTrips, ...refusals]
