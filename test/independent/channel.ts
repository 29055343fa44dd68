import { brotliDecompressSync, inflateSync } from 'node:zlib'
import type { Hex } from 'viem'
import { cursorOver, demand, SpecError } from './cursor.ts'
import type { SeenFrame } from './frames.ts'
import { integerOf, listOf, rlpOf, stringOf } from './rlp.ts'
import { type SeenSpan, spanOf } from './span.ts'

export type SeenSingular = {
  readonly batchVersion: 0
  readonly parentHash: Hex
  readonly epochNumber: bigint
  readonly epochHash: Hex
  readonly timestamp: bigint
  /** EIP-2718 bytes. */
  readonly transactionList: readonly Hex[]
}
export type SeenBatch = SeenSingular | SeenSpan
export type SeenChannel = { readonly compression: 'zlib' | 'brotli'; readonly rlpBytes: number; readonly batches: readonly SeenBatch[] }

/** Joins the data of a channel's frames, which may be in any order; undefined when a frame is missing. */
export function joined(frames: readonly SeenFrame[]): Buffer | undefined {
  const [last, ...others] = frames.filter(({ isLast }) => isLast)
  demand(others.length === 0, 'two last frames')
  if (last === undefined || frames.length !== last.number + 1) return undefined
  const inOrder = frames.toSorted((a, b) => a.number - b.number)
  inOrder.forEach(({ number }, at) => {
    demand(number === at, `frame ${number} in position ${at}`)
  })
  return Buffer.concat(inOrder.map(({ data }) => data))
}

/**
 * Reads a whole channel; every byte must have a meaning.
 * @see specs protocol/derivation.md, "Channel Format", "Batch Format"; fjord/derivation.md, "Brotli Channel Compression"
 */
export function readChannel(channel: Uint8Array): SeenChannel {
  const compression = compressionOf(channel)
  const rlp = decompressed(channel, compression)
  const cursor = cursorOver(rlp)
  const batches: SeenBatch[] = []
  while (cursor.left() > 0) batches.push(batchOf(stringOf(rlpOf(cursor.rlpItem('rlp_batches'), 'rlp_batches'), 'any', 'batch')))
  return { compression, rlpBytes: rlp.length, batches }
}

function compressionOf([first]: Uint8Array): 'zlib' | 'brotli' {
  if (first === undefined) throw new SpecError('channel is empty')
  if (first % 16 === 8 || first % 16 === 15) return 'zlib'
  demand(first === 1, `channel_version_byte ${first}`)
  return 'brotli'
}

function decompressed(channel: Uint8Array, compression: 'zlib' | 'brotli'): Buffer {
  try {
    return compression === 'zlib' ? inflateSync(channel) : brotliDecompressSync(channel.subarray(1))
  } catch (cause) {
    throw new SpecError(`channel does not decompress with ${compression}`, { cause })
  }
}

function batchOf(batch: Hex): SeenBatch {
  const bytes = Buffer.from(batch.slice(2), 'hex')
  const version = bytes[0]
  if (version === 1) return spanOf(bytes.subarray(1))
  demand(version === 0, `batch_version ${version}`)
  const [parentHash, epochNumber, epochHash, timestamp, transactions] = listOf(rlpOf(bytes.subarray(1), 'batch'), 5, 'batch')
  return {
    batchVersion: 0,
    parentHash: stringOf(parentHash, 32, 'parent_hash'),
    epochNumber: integerOf(epochNumber, 64, 'epoch_number'),
    epochHash: stringOf(epochHash, 32, 'epoch_hash'),
    timestamp: integerOf(timestamp, 64, 'timestamp'),
    transactionList: listOf(transactions, 'any', 'transaction_list').map((raw) => stringOf(raw, 'any', 'transaction')),
  }
}
