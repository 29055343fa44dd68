import type { ChainReceipt } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { PendingBlock } from '#types/pendingBlock'

/** A change of a pending block. */
export type PendingChange =
  /** A flashblock was added. `firstNew`: index of its first transaction. */
  | { readonly kind: 'flashblock'; readonly pending: PendingBlock; readonly firstNew: number }
  /** The transactions of this block from index `first` on will not be on the chain in this position. */
  | { readonly kind: 'dropped'; readonly pending: PendingBlock; readonly first: number; readonly replacedBy?: Hash }

/** A change of a pending block, and a function that computes the block's receipts, one per transaction. */
export type PendingNews = PendingChange & { readonly receipts: () => readonly ChainReceipt[] }

/** Notifies of flashblocks, in order, each once, after views can read them. */
export interface PendingFeed {
  /** @param listener must not throw */
  subscribe(listener: (news: readonly PendingNews[]) => void): Disposable
}
