import type { Address, Hash } from '#types/ids'
import type { Json } from './json.ts'

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
  | { readonly kind: 'underpriced' }
  | { readonly kind: 'nonce-too-low'; readonly next: bigint; readonly nonce: bigint }
  | { readonly kind: 'nonce-too-high' }
  | { readonly kind: 'nonce-max' }
  | { readonly kind: 'insufficient-funds'; readonly have: bigint; readonly want: bigint }
  | { readonly kind: 'sender-has-code' }
  | { readonly kind: 'empty-authorizations' }
  | { readonly kind: 'replacement-underpriced' }
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

/** The transactions that wait for a block; execution has them. */
export interface TransactionPool {
  /** Checks a transaction on the head and keeps it. @param raw EIP-2718 bytes */
  add(raw: Uint8Array): Promise<PoolOutcome>
  get(hash: Hash): Promise<PooledTransaction | undefined>
  /** The nonce after the account's pending transactions; undefined: it has none, and its state's nonce is the next. */
  nextNonce(sender: Address): Promise<bigint | undefined>
  size(): Promise<{ readonly pending: number; readonly queued: number }>
  /** All of them, or those of one sender; by sender and nonce. */
  content(sender?: Address): Promise<readonly PooledTransaction[]>
}

/** What the sequencer said of a transaction that was passed on to it. */
export type Forwarded =
  | { readonly kind: 'result'; readonly result: Json }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }
  /** it did not answer, or with something else; the log says what */
  | { readonly kind: 'unanswered' }
  /** too many are on their way already */
  | { readonly kind: 'busy' }

/** The node that makes blocks, elsewhere. */
export interface SequencerLink {
  /** Passes a transaction on as it came. Never rejects. @param raw EIP-2718 bytes */
  send(raw: Uint8Array): Promise<Forwarded>
}
