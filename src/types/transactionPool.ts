import type { Address, Hash } from './ids.ts'
import type { PooledTransaction, PoolOutcome } from './pooledTransaction.ts'

/** Limits for the pool's transactions in a block that this node builds. An undefined limit does not apply. */
export type BlockLimits = {
  /** estimated compressed size of one transaction, in bytes, for the data capacity of L1 */
  readonly maxTransactionBytes?: number | undefined
  /** sum of the estimated compressed sizes, in bytes */
  readonly maxBlockBytes?: number | undefined
  /** gas of the whole block, forced transactions included */
  readonly maxBlockGas?: bigint | undefined
}

/** Transactions that an operator removes from the pool. */
export type PoolRemoval =
  | { readonly kind: 'transaction'; readonly hash: Hash }
  | { readonly kind: 'sender'; readonly sender: Address }
  | { readonly kind: 'all' }

/** Transactions that wait for a block, as other threads use them. */
export interface TransactionPool {
  /** Validates a transaction on the unsafe head and keeps it, also across a restart. @param raw EIP-2718 bytes */
  add(raw: Uint8Array): Promise<PoolOutcome>
  get(hash: Hash): Promise<PooledTransaction | undefined>
  /** Returns the nonce after the account's pending transactions; undefined when it has none, so that the nonce of the state is next. */
  nextNonce(sender: Address): Promise<bigint | undefined>
  size(): Promise<{ readonly pending: number; readonly queued: number }>
  /** Returns all transactions, or those of one sender, ordered by sender and nonce. The bounds of the pool bound the result. */
  content(sender?: Address): Promise<readonly PooledTransaction[]>
  /** Removes transactions for good. @returns their hashes */
  remove(what: PoolRemoval): Promise<readonly Hash[]>
  /** Changes the limits for blocks with pool transactions from now on. Limits that are not named stay as they are. */
  limitBlocks(change: BlockLimits): Promise<void>
}
