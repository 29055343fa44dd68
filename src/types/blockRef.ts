import type { Hash } from './ids.ts'

/** Number and hash: enough to name a block. */
export type BlockId = { readonly hash: Hash; readonly number: number }

/** An L1 block as the consensus half knows it. `timestamp` in seconds. */
export type L1Ref = BlockId & { readonly parentHash: Hash; readonly timestamp: number }

/** An L2 block with its place in the L1 chain, read from its first deposit. `timestamp` in seconds. */
export type L2Ref = BlockId & {
  readonly parentHash: Hash
  readonly timestamp: number
  readonly l1Origin: BlockId
  /** place in the epoch */
  readonly sequenceNumber: number
}
