import type { Address, Hash } from '#types/ids'

/** Why the pool does not take a transaction. Amounts in wei, prices in wei per gas, sizes in bytes. */
export type PoolRefusal =
  | { readonly kind: 'undecodable'; readonly reason: string }
  /** blob transactions, deposits, and types of forks that are not active */
  | { readonly kind: 'type'; readonly type: number }
  | { readonly kind: 'oversized'; readonly size: number; readonly limit: number }
  | { readonly kind: 'signature' }
  | { readonly kind: 'chain-id' }
  | { readonly kind: 'gas-limit'; readonly limit: bigint }
  | { readonly kind: 'initcode-size' }
  | { readonly kind: 'intrinsic-gas' }
  | { readonly kind: 'tip-above-fee-cap' }
  /** below the least price that the pool takes */
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'nonce-too-low'; readonly next: bigint; readonly nonce: bigint }
  /** further ahead of the account than the pool keeps */
  | { readonly kind: 'nonce-too-high' }
  | { readonly kind: 'nonce-max' }
  /** for value, gas, L1 data and operator fee */
  | { readonly kind: 'insufficient-funds'; readonly have: bigint; readonly want: bigint }
  | { readonly kind: 'sender-has-code' }
  | { readonly kind: 'empty-authorizations' }
  /** a price less than a tenth above that of the transaction with the same nonce */
  | { readonly kind: 'replacement-underpriced' }
  /** EIP-7702: a delegated account has one transaction in the pool at most */
  | { readonly kind: 'delegated-limit' }
  | { readonly kind: 'account-full' }
  | { readonly kind: 'pool-full' }

export type PoolOutcome =
  | { readonly kind: 'added'; readonly hash: Hash }
  | { readonly kind: 'known'; readonly hash: Hash }
  | { readonly kind: 'refused'; readonly refusal: PoolRefusal }

/** A transaction that waits. */
export type PooledTransaction = {
  readonly hash: Hash
  readonly sender: Address
  /** EIP-2718 bytes */
  readonly raw: Uint8Array
  /** pending: could be in the next block, as far as nonces and balance go; queued: something before it is missing */
  readonly isPending: boolean
}

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
