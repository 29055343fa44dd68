import type { Address, Hash } from './ids.ts'

/** Reason why the pool rejects a transaction. Amounts in wei, prices in wei per gas, sizes in bytes. */
export type PoolRefusal =
  | { readonly kind: 'undecodable'; readonly reason: string }
  /** A blob transaction, a deposit, or a type of an inactive fork. */
  | { readonly kind: 'type'; readonly type: number }
  | { readonly kind: 'oversized'; readonly size: number; readonly limit: number }
  | { readonly kind: 'signature' }
  | { readonly kind: 'chain-id' }
  /** Above the block gas limit. */
  | { readonly kind: 'gas-limit'; readonly limit: bigint }
  /** Above the limit of one transaction (EIP-7825). */
  | { readonly kind: 'transaction-gas-limit'; readonly limit: bigint }
  | { readonly kind: 'initcode-size' }
  | { readonly kind: 'intrinsic-gas' }
  | { readonly kind: 'tip-above-fee-cap' }
  /** Below the lowest price that the pool accepts. */
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'nonce-too-low'; readonly next: bigint; readonly nonce: bigint }
  /** Further ahead of the account's nonce than the pool accepts. */
  | { readonly kind: 'nonce-too-high' }
  | { readonly kind: 'nonce-max' }
  /** Balance too low for value, gas, L1 data fee and operator fee. */
  | { readonly kind: 'insufficient-funds'; readonly have: bigint; readonly want: bigint }
  | { readonly kind: 'sender-has-code' }
  | { readonly kind: 'empty-authorizations' }
  /** Price less than 10 % above the transaction with the same nonce. */
  | { readonly kind: 'replacement-underpriced' }
  /** A delegated account (EIP-7702) may add its next transaction only, which the pool has already. */
  | { readonly kind: 'delegated-limit' }
  | { readonly kind: 'account-full' }
  | { readonly kind: 'pool-full' }

export type PoolOutcome =
  | { readonly kind: 'added'; readonly hash: Hash }
  | { readonly kind: 'known'; readonly hash: Hash }
  | { readonly kind: 'refused'; readonly refusal: PoolRefusal }

export type PooledTransaction = {
  readonly hash: Hash
  readonly sender: Address
  /** EIP-2718 bytes. */
  readonly raw: Uint8Array
  /** true: nonce and balance allow the transaction in the next block. false: queued, because an earlier transaction of the sender is missing. */
  readonly isPending: boolean
}
