import type { Hash } from './ids.ts'

/** Number and hash, which identify a block. */
export type BlockId = { readonly hash: Hash; readonly number: number }

/** An L1 block as the consensus half uses it. `timestamp` in seconds. */
export type L1Ref = BlockId & { readonly parentHash: Hash; readonly timestamp: number }

/** An L2 block with its L1 origin, read from its first deposit. `timestamp` in seconds. */
export type L2Ref = BlockId & {
  readonly parentHash: Hash
  readonly timestamp: number
  readonly l1Origin: BlockId
  /** Position of the block in its epoch. */
  readonly sequenceNumber: number
}
