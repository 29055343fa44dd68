import type { Address, Hash } from '#types/ids'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'

/** How much of L1's data room transactions may take, as their estimated compressed size in bytes; absent: as much as fits. */
export type DataLimits = { readonly maxTransactionBytes?: number; readonly maxBlockBytes?: number }

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
  /** From now on blocks that are built with pool transactions keep to these limits. */
  limitData(limits: DataLimits): Promise<void>
}
