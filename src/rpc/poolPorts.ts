import type { Address, Hash } from '#types/ids'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import type { Json } from './json.ts'

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
