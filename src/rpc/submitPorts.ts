import type { Hash } from '#types/ids'
import type { Json } from './json.ts'

/** The sequencer's answer to a forwarded transaction. */
export type Forwarded =
  | { readonly kind: 'result'; readonly result: Json }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }
  /** the sequencer limits the rate; until the time is over no further request is sent */
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** no valid answer in any attempt: the sequencer may have the transaction */
  | { readonly kind: 'unanswered' }
  /** too many transactions are being forwarded */
  | { readonly kind: 'busy' }

/**
 * State of a forwarded transaction. `sending`: in transit, or waiting for a retry; `taken`: accepted by the sequencer; `included`: in a block of
 * this node's chain; `refused`: the sequencer returned an error; `limited`: the sequencer limits the rate; `unanswered`: unknown.
 */
export const forwardStates = ['sending', 'taken', 'included', 'refused', 'limited', 'unanswered'] as const
export type ForwardState = (typeof forwardStates)[number]

export type ForwardedTransaction = {
  readonly state: ForwardState
  /** requests sent for it */
  readonly tries: number
  /** since it was received, in milliseconds */
  readonly ageMs: number
  /** the sequencer's error, when refused */
  readonly error?: { readonly code: number; readonly message: string }
}

/** The sequencer's status of a transaction; `failed`: the reason for no answer. */
export type SequencerStatus = { readonly kind: 'status'; readonly status: string } | { readonly kind: 'failed'; readonly reason: string }

/** The remote sequencer. A node has one link; arguments and results can be structured-cloned. */
export interface SequencerLink {
  /**
   * Forwards a transaction unchanged, with retries when the connection fails. Never rejects.
   * @param raw EIP-2718 bytes
   * @param condition of `eth_sendRawTransactionConditional`, unchanged; absent: none
   */
  send(raw: Uint8Array, condition?: Json): Promise<Forwarded>
  /** State of a forwarded transaction; undefined: never forwarded, or forgotten. */
  forwarded(hash: Hash): Promise<ForwardedTransaction | undefined>
  /** Requests the status from the sequencer. Never rejects. */
  status(hash: Hash): Promise<SequencerStatus>
}
