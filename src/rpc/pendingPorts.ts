import type { ChainBlock, ChainReceipt } from '#types/chainView'
import type { Hash } from '#types/ids'

/** A block that is not sealed. Immutable: each flashblock makes a new one. */
export type PendingBlock = {
  /** Its id in views is `heads.pending`; clients see it without a hash. */
  readonly block: ChainBlock
  /** One per transaction. */
  readonly receipts: readonly ChainReceipt[]
  /** index of its newest flashblock, from 0 */
  readonly index: number
}

/** A change of pending blocks. */
export type PendingNews =
  /** A flashblock was added. `firstNew`: index of its first transaction. */
  | { readonly kind: 'flashblock'; readonly pending: PendingBlock; readonly firstNew: number }
  /** The transactions of this block from index `first` on will not be on the chain in this position. */
  | { readonly kind: 'dropped'; readonly pending: PendingBlock; readonly first: number; readonly replacedBy?: Hash }

/** Notifies of flashblocks, in order, each once, after views can read them. */
export interface PendingFeed {
  /** @param listener must not throw */
  subscribe(listener: (news: readonly PendingNews[]) => void): Disposable
}
