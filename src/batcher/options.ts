import type { RollupConfig } from '#chain/rollupConfig'
import type { CompressionEffort } from '#lib/compress'
import type { Compression } from '#lib/decompress'
import type { ProofKind } from './ports.ts'

export type BatcherSettings = {
  /** `auto`: spans wherever they are allowed */
  readonly form: 'auto' | 'span' | 'singular'
  /** `auto`: brotli wherever it is allowed */
  readonly compression: 'auto' | Compression
  readonly effort: CompressionEffort
  /** `auto`: what costs less at the fees of the moment */
  readonly carrier: 'auto' | 'calldata' | 'blobs'
  /** what L1 wants blobs sent with */
  readonly proofs: ProofKind
  /** A channel is closed this many L1 blocks after its first block came. */
  readonly maxChannelL1Blocks: number
  /** L1 blocks that are left for inclusion before the sequencing window or the channel's time is over */
  readonly safetyMarginL1Blocks: number
  /** A channel is closed when it is about this large, compressed. */
  readonly targetChannelBytes: number
  /** of one transaction's calldata */
  readonly maxCalldataBytes: number
  readonly maxBlobsPerTransaction: number
  readonly maxPendingTransactions: number
  /** A transaction that is not included after this long is replaced by one with higher fees. */
  readonly resubmitMs: number
  /** Derivation has read this many L1 blocks past a channel's inclusion, and its blocks are not safe: they never will be. */
  readonly stallL1Blocks: number
  /** The sequencer is throttled while more than this waits to be posted, estimated; 0: never */
  readonly throttleBytes: number
  readonly pollMs: number
  /** Blocks are not read while more than this of them is in memory. */
  readonly maxBacklogBytes: number
  readonly maxBlocksPerPoll: number
  /** Sent transactions are kept for the case of a reorg, up to this much and this many L1 blocks. */
  readonly keepBytes: number
  readonly keepL1Blocks: number
  /** wei per gas */
  readonly priorityFeeWei: bigint
  /** Bounds of what is offered: wei per gas, wei per blob gas. */
  readonly maxFeePerGasWei: bigint
  readonly maxFeePerBlobGasWei: bigint
}

export type BatcherOptions = { readonly config: RollupConfig } & Partial<BatcherSettings>

const gwei = 10n ** 9n

export const defaultBatcherSettings: BatcherSettings = {
  form: 'auto',
  compression: 'auto',
  effort: 'fast',
  carrier: 'auto',
  proofs: 'blobs',
  maxChannelL1Blocks: 2,
  safetyMarginL1Blocks: 10,
  targetChannelBytes: 600_000,
  maxCalldataBytes: 120_000,
  maxBlobsPerTransaction: 6,
  maxPendingTransactions: 10,
  resubmitMs: 48_000,
  stallL1Blocks: 3,
  throttleBytes: 1_000_000,
  pollMs: 1_000,
  maxBacklogBytes: 32_000_000,
  maxBlocksPerPoll: 256,
  keepBytes: 16_000_000,
  keepL1Blocks: 64,
  priorityFeeWei: gwei,
  maxFeePerGasWei: 2_000n * gwei,
  maxFeePerBlobGasWei: 10_000n * gwei,
}
