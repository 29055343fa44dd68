import type { RollupConfig } from '#chain/rollupConfig'
import type { Compression } from '#lib/decompress'
import { fromHex, type Hex } from '#lib/hex'
import { depositType } from '#types/transaction'
import type { Batch } from './codec/batch.ts'
import { encodeBlob, maxBlobDataBytes } from './codec/blob.ts'
import { encodeChannel } from './codec/channel.ts'
import { encodeFrames, type Frame, frameOverheadBytes, maxFrameDataBytes } from './codec/frame.ts'
import type { SingularBatch } from './codec/singularBatch.ts'
import { checkBytes, type SpanBatch } from './codec/spanBatch.ts'
import type { SafeBlock } from './ports.ts'

/** How blocks are posted. Span batches from Delta on, brotli from Fjord on: else derivation drops them. */
export type BatchForm = { readonly batches: 'singular' | 'span'; readonly compression: Compression }

/** What fits one batcher transaction: calldata of this many bytes, or one blob. */
export type Carrier = { readonly kind: 'calldata'; readonly maxBytes: number } | { readonly kind: 'blob' }

const versionBytes = 1

/** Deposits come from L1: they are not posted. */
const posted = ({ transactions }: SafeBlock): readonly Uint8Array[] => transactions.filter(([type]) => type !== depositType)

export function singularBatchOf(block: SafeBlock): SingularBatch {
  const { parentHash, l1Origin, timestamp } = block.ref
  const transactions = posted(block)
  return {
    kind: 'singular',
    parentHash,
    epochNumber: BigInt(l1Origin.number),
    epochHash: l1Origin.hash,
    timestamp: BigInt(timestamp),
    transactions,
  }
}

/** @param blocks consecutive, at least one; RangeError otherwise */
export function spanBatchOf(config: RollupConfig, blocks: readonly SafeBlock[]): SpanBatch {
  const [first] = blocks
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('a span batch of no blocks')
  for (const [at, { ref }] of blocks.entries()) {
    if (ref.number !== first.ref.number + at) throw new RangeError(`block ${ref.number} is not the next one of a span`)
  }
  return {
    kind: 'span',
    relativeTimestamp: BigInt(first.ref.timestamp - config.genesis.l2TimeSec),
    l1OriginNumber: BigInt(last.ref.l1Origin.number),
    parentCheck: fromHex(first.ref.parentHash).subarray(0, checkBytes),
    l1OriginCheck: fromHex(last.ref.l1Origin.hash).subarray(0, checkBytes),
    blocks: blocks.map((block) => ({ advancesOrigin: block.ref.sequenceNumber === 0, transactions: posted(block) })),
  }
}

/**
 * The compressed channel of consecutive blocks.
 * @throws RangeError on a transaction that a span batch cannot hold
 */
export function channelOf(config: RollupConfig, blocks: readonly SafeBlock[], form: BatchForm): Uint8Array {
  const batches: readonly Batch[] = form.batches === 'span' ? [spanBatchOf(config, blocks)] : blocks.map(singularBatchOf)
  return encodeChannel(batches, config.l2ChainId, form.compression)
}

/** Data bytes of a frame that has a carrier to itself. */
function frameRoom(carrier: Carrier): number {
  const bytes = carrier.kind === 'blob' ? maxBlobDataBytes : carrier.maxBytes
  return Math.min(bytes - versionBytes - frameOverheadBytes, maxFrameDataBytes)
}

/**
 * Cuts a channel into frames, each as large as its carrier allows.
 * @param channelId 16 bytes that no other channel has
 * @throws RangeError when a carrier has no room, or the channel needs more than 65,536 frames
 */
export function framesOf(channelId: Hex, channel: Uint8Array, carrier: Carrier): readonly Frame[] {
  const room = frameRoom(carrier)
  if (room <= 0) throw new RangeError('no room for a frame')
  const count = Math.max(1, Math.ceil(channel.length / room))
  if (count > 65_536) throw new RangeError(`a channel of ${count} frames`)
  return Array.from({ length: count }, (_, number) => ({
    channelId,
    number,
    data: channel.subarray(number * room, (number + 1) * room),
    isLast: number === count - 1,
  }))
}

/** Calldata of one batcher transaction. */
export function calldataOf(frames: readonly Frame[]): Uint8Array {
  return encodeFrames(frames)
}

/** One blob of a batcher transaction: 131,072 bytes. RangeError when the frames do not fit. */
export function blobOf(frames: readonly Frame[]): Uint8Array {
  return encodeBlob(encodeFrames(frames))
}
