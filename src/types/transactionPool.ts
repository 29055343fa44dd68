import type { Address, Hash } from './ids.ts'
import type { PooledTransaction, PoolOutcome } from './pooledTransaction.ts'

/** What transactions of the pool may take of a block that is built here; undefined: as much as fits. */
export type BlockLimits = {
  /** of one transaction's estimated compressed size, in bytes: L1's data room */
  readonly maxTransactionBytes?: number | undefined
  /** of all of them */
  readonly maxBlockBytes?: number | undefined
  /** gas of the whole block, what is forced included */
  readonly maxBlockGas?: bigint | undefined
}

/** What an operator wants out of the pool. */
export type PoolRemoval =
  | { readonly kind: 'transaction'; readonly hash: Hash }
  | { readonly kind: 'sender'; readonly sender: Address }
  | { readonly kind: 'all' }

/** The transactions that wait for a block, as the other threads see them. */
export interface TransactionPool {
  /** Checks a transaction on the unsafe head and keeps it, through a restart too. @param raw EIP-2718 bytes */
  add(raw: Uint8Array): Promise<PoolOutcome>
  get(hash: Hash): Promise<PooledTransaction | undefined>
  /** The nonce after the account's pending transactions; undefined: it has none, and its state's nonce is the next. */
  nextNonce(sender: Address): Promise<bigint | undefined>
  size(): Promise<{ readonly pending: number; readonly queued: number }>
  /** All of them, or those of one sender; by sender and nonce. Bounded as the pool is. */
  content(sender?: Address): Promise<readonly PooledTransaction[]>
  /** Takes transactions out, for good. @returns their hashes */
  remove(what: PoolRemoval): Promise<readonly Hash[]>
  /** From now on blocks that are built with pool transactions keep to these limits; those not named stay as they are. */
  limitBlocks(change: BlockLimits): Promise<void>
}
