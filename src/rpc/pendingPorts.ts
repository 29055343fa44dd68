import type { ChainBlock, ChainReceipt } from '#types/chainView'
import type { Hash } from '#types/ids'

/** A block that is not sealed, as far as it is known; each flashblock makes a new one, and neither changes. */
export type PendingBlock = {
  /** Its id in views (`heads.pending`); what callers see of it has no hash. */
  readonly block: ChainBlock
  /** One per transaction. */
  readonly receipts: readonly ChainReceipt[]
  /** slice that was added last, from 0 */
  readonly index: number
}

/** What became of blocks that are not sealed. */
export type PendingNews =
  /** The newest one has grown. `firstNew`: index of the first transaction that the flashblock before did not have. */
  | { readonly kind: 'increment'; readonly pending: PendingBlock; readonly firstNew: number }
  /** Transactions that were shown will not be in the chain where they were shown: from index `first` of this block on. */
  | { readonly kind: 'dropped'; readonly pending: PendingBlock; readonly first: number; readonly replacedBy?: Hash }

/** Tells of flashblocks, in order, each once, after they are readable. */
export interface PendingFeed {
  /** @param listener may not throw */
  subscribe(listener: (news: readonly PendingNews[]) => void): Disposable
}
