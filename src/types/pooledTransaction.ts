import type { Address, Hash } from './ids.ts'

/** Why the pool does not take a transaction. Amounts in wei, prices in wei per gas, sizes in bytes. */
export type PoolRefusal =
  | { readonly kind: 'undecodable'; readonly reason: string }
  /** blob transactions, deposits, and types of forks that are not active */
  | { readonly kind: 'type'; readonly type: number }
  | { readonly kind: 'oversized'; readonly size: number; readonly limit: number }
  | { readonly kind: 'signature' }
  | { readonly kind: 'chain-id' }
  /** above that of a block */
  | { readonly kind: 'gas-limit'; readonly limit: bigint }
  /** above what one transaction may have (EIP-7825) */
  | { readonly kind: 'transaction-gas-limit'; readonly limit: bigint }
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
