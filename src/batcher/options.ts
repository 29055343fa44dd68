import type { RollupConfig } from '#chainspec/rollupConfig'
import type { CompressionEffort } from '#lib/compress'
import type { Compression } from '#lib/decompress'
import type { ProofKind } from './ports.ts'

export type BatcherSettings = {
  /** `auto`: spans where they are allowed */
  readonly form: 'auto' | 'span' | 'singular'
  /** `auto`: brotli where it is allowed */
  readonly compression: 'auto' | Compression
  readonly effort: CompressionEffort
  /** `auto`: the cheaper one at current fees */
  readonly carrier: 'auto' | 'calldata' | 'blobs'
  /** kind of proof that L1 requires */
  readonly proofs: ProofKind
  /** Number of L1 blocks after its first block when a channel is closed. */
  readonly maxChannelL1Blocks: number
  /** L1 blocks reserved for inclusion before the sequencing window ends or the channel times out */
  readonly safetyMarginL1Blocks: number
  /** Approximate compressed size at which a channel is closed. */
  readonly targetChannelBytes: number
  /** limit of one transaction's calldata */
  readonly maxCalldataBytes: number
  readonly maxBlobsPerTransaction: number
  readonly maxPendingTransactions: number
  /** Time after which a transaction that is not included is replaced by one with higher fees. */
  readonly resubmitMs: number
  /** Number of L1 blocks that derivation has read after a channel's inclusion, at which blocks that are not safe count as dropped. */
  readonly stallL1Blocks: number
  /** Estimated backlog above which the sequencer is throttled; 0: never */
  readonly throttleBytes: number
  readonly pollMs: number
  /** Limit of blocks in memory; above it no further blocks are read. */
  readonly maxBacklogBytes: number
  readonly maxBlocksPerPoll: number
  /** Limits within which sent transactions are kept for the case of a reorg: bytes and L1 blocks. */
  readonly keepBytes: number
  readonly keepL1Blocks: number
  /** wei per gas */
  readonly priorityFeeWei: bigint
  /** Limits of the fees: wei per gas, wei per blob gas. */
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
