import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { concatBytes } from '#lib/bytes'
import type { Compression } from '#lib/decompress'
import { fromHex, type Hex } from '#lib/hex'
import { encodeRlp } from '#lib/rlp'
import type { L2Ref } from '#types/blockRef'
import { depositType } from '#types/transaction'
import { singularBatchBytes, spanBatchBytes } from './codec/batch.ts'
import { maxBlobDataBytes } from './codec/blob.ts'
import { type Frame, frameOverheadBytes, maxFrameDataBytes } from './codec/frame.ts'
import type { SingularBatch } from './codec/singularBatch.ts'
import { checkBytes, type SpanHead } from './codec/spanBatch.ts'
import { SpanTransactionWriter } from './codec/spanTransactionWriter.ts'
import { TransactionList } from './codec/transactionList.ts'
import type { SafeBlock } from './ports.ts'

/** Form in which blocks are posted. Derivation drops span batches before Delta and brotli before Fjord. */
export type BatchForm = { readonly batches: 'singular' | 'span'; readonly compression: Compression }

/** Capacity of one batcher transaction: at most `maxBytes` of calldata, or one blob. */
export type Carrier = { readonly kind: 'calldata'; readonly maxBytes: number } | { readonly kind: 'blob' }

const versionBytes = 1

/** Returns the transactions of a block that are posted: all but its deposits, which derivation takes from L1. */
const posted = ({ transactions }: SafeBlock): readonly Uint8Array[] => transactions.filter(([type]) => type !== depositType)

export function singularBatchOf(block: SafeBlock): SingularBatch {
  const { parentHash, l1Origin, timestamp } = block.ref
  return {
    kind: 'singular',
    parentHash,
    epochNumber: BigInt(l1Origin.number),
    epochHash: l1Origin.hash,
    timestamp: BigInt(timestamp),
    transactions: TransactionList.of(posted(block)),
  }
}

/** Returns the fields of a span batch that depend on its first and its last block alone. */
function spanEnds(config: RollupConfig, first: L2Ref, last: L2Ref): Omit<SpanHead, 'blocks'> {
  return {
    relativeTimestamp: BigInt(first.timestamp - config.genesis.l2TimeSec),
    l1OriginNumber: BigInt(last.l1Origin.number),
    parentCheck: fromHex(first.parentHash).subarray(0, checkBytes),
    l1OriginCheck: fromHex(last.l1Origin.hash).subarray(0, checkBytes),
  }
}

/** Writer of consecutive blocks into one channel. It encodes each block when the block is added. */
export interface BatchWriter {
  /** size of the encoded batches so far, before compression */
  readonly bytes: number
  readonly blocks: number
  readonly transactions: number
  /**
   * Adds the next block. Parent hashes are not compared.
   * @throws RangeError when a span cannot hold the block: its number is not the next one, or the span format has no place for one of its
   *   transactions, or it is a Denim block; RlpError when the bytes of a transaction are malformed. The writer must not be used after an error.
   */
  add(block: SafeBlock): void
  /** Returns the channel's RLP before compression. RangeError when there are no blocks. */
  finish(): Uint8Array
}

/** Creates a writer of singular batches, or of one span batch. */
export function createBatchWriter(config: RollupConfig, batches: BatchForm['batches']): BatchWriter {
  return batches === 'span' ? new SpanWriter(config) : new SingularWriter()
}

class SingularWriter implements BatchWriter {
  readonly #parts: Uint8Array[] = []
  bytes = 0
  transactions = 0

  get blocks(): number {
    return this.#parts.length
  }

  add(block: SafeBlock): void {
    const batch = singularBatchOf(block)
    const part = encodeRlp(singularBatchBytes(batch))
    this.#parts.push(part)
    this.bytes += part.length
    this.transactions += batch.transactions.length
  }

  finish(): Uint8Array {
    if (this.#parts.length === 0) throw new RangeError('channel without blocks')
    return concatBytes(...this.#parts)
  }
}

class SpanWriter implements BatchWriter {
  readonly #config: RollupConfig
  readonly #columns: SpanTransactionWriter
  readonly #heads: { readonly advancesOrigin: boolean; readonly transactionCount: number }[] = []
  #first: L2Ref | undefined
  #last: L2Ref | undefined

  constructor(config: RollupConfig) {
    this.#config = config
    this.#columns = new SpanTransactionWriter(config.l2ChainId)
  }

  get blocks(): number {
    return this.#heads.length
  }

  get bytes(): number {
    return this.#columns.bytes + this.#heads.length * 2
  }

  get transactions(): number {
    return this.#columns.count
  }

  add(block: SafeBlock): void {
    const { number } = block.ref
    if (this.#last !== undefined && number !== this.#last.number + 1)
      throw new RangeError(`block ${number} does not follow the previous block of the span`)
    if (isActive(this.#config.schedule, 'denim', block.ref.timestamp))
      throw new RangeError(`block ${number} is a Denim block, which no span may hold`)
    const transactions = posted(block)
    for (const raw of transactions) this.#columns.add(raw)
    this.#heads.push({ advancesOrigin: block.ref.sequenceNumber === 0, transactionCount: transactions.length })
    this.#first ??= block.ref
    this.#last = block.ref
  }

  finish(): Uint8Array {
    if (this.#first === undefined || this.#last === undefined) throw new RangeError('channel without blocks')
    const head = { ...spanEnds(this.#config, this.#first, this.#last), blocks: this.#heads }
    return encodeRlp(spanBatchBytes(head, this.#columns.finish()))
  }
}

/** Returns the data bytes that a frame can hold when it is alone in its calldata or blob. */
function frameRoom(carrier: Carrier): number {
  const bytes = carrier.kind === 'blob' ? maxBlobDataBytes : carrier.maxBytes
  return Math.min(bytes - versionBytes - frameOverheadBytes, maxFrameDataBytes)
}

/**
 * Cuts a channel into frames, each as large as its calldata or blob allows.
 * @param channelId 16 bytes that no other channel uses
 * @throws RangeError when the calldata limit leaves no room for a frame, or when the channel needs more than 65,536 frames
 */
export function framesOf(channelId: Hex, channel: Uint8Array, carrier: Carrier): readonly Frame[] {
  const room = frameRoom(carrier)
  if (room <= 0) throw new RangeError('calldata limit leaves no room for a frame')
  const count = Math.max(1, Math.ceil(channel.length / room))
  if (count > 65_536) throw new RangeError(`channel needs ${count} frames, at most 65,536 are allowed`)
  return Array.from({ length: count }, (_, number) => ({
    channelId,
    number,
    data: channel.subarray(number * room, (number + 1) * room),
    isLast: number === count - 1,
  }))
}

/** Data bytes of one frame that fill a blob, after version byte and frame header. */
export const blobFrameBytes: number = maxBlobDataBytes - versionBytes - frameOverheadBytes
