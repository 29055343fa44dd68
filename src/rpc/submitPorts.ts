import type { Hash } from '#types/ids'
import type { Json } from './json.ts'

/** What the sequencer said of a transaction that was passed on to it. */
export type Forwarded =
  | { readonly kind: 'result'; readonly result: Json }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }
  /** it wants to be asked later; that long it is asked nothing more */
  | { readonly kind: 'limited'; readonly retryAfterMs: number }
  /** no answer, or something else, in all tries: whether it has the transaction is not known */
  | { readonly kind: 'unanswered' }
  /** too many are on their way already */
  | { readonly kind: 'busy' }

/**
 * Where a transaction stands that was passed on. `sending`: on its way, or before another try; `taken`: the sequencer has it; `included`: in a
 * block of the chain here; `refused`: the sequencer gave an error; `limited`: it wants to be asked later; `unanswered`: not known.
 */
export const forwardStates = ['sending', 'taken', 'included', 'refused', 'limited', 'unanswered'] as const
export type ForwardState = (typeof forwardStates)[number]

export type ForwardedTransaction = {
  readonly state: ForwardState
  /** requests that were sent for it */
  readonly tries: number
  /** since it was asked for first, in milliseconds */
  readonly ageMs: number
  /** of the sequencer, where it is refused */
  readonly error?: { readonly code: number; readonly message: string }
}

/** What the sequencer says of a transaction when it is asked; `failed`: why it said nothing. */
export type SequencerStatus = { readonly kind: 'status'; readonly status: string } | { readonly kind: 'failed'; readonly reason: string }

/** The node that makes blocks, elsewhere. There is one link a node; its arguments and results can be cloned. */
export interface SequencerLink {
  /**
   * Passes a transaction on as it came, again where the way to the sequencer fails. Never rejects.
   * @param raw EIP-2718 bytes
   * @param condition of `eth_sendRawTransactionConditional`, as it came; absent: none
   */
  send(raw: Uint8Array, condition?: Json): Promise<Forwarded>
  /** What became of one that was passed on; undefined: none was, or so long ago that it is forgotten. */
  forwarded(hash: Hash): Promise<ForwardedTransaction | undefined>
  /** Asks the sequencer. Never rejects. */
  status(hash: Hash): Promise<SequencerStatus>
}
