import type { Clock } from '#lib/clock'
import type { ForwardedTransaction, ForwardState } from '#rpc/submitPorts'
import type { Hash } from '#types/ids'

/** A transaction takes some 250 bytes: 4 MB. The oldest are forgotten. */
const maxTransactions = 16_384

type Entry = { state: ForwardState; tries: number; readonly sinceMs: number; error: ForwardedTransaction['error'] }

export type TransactionStatesDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  /** Told of each change: how many transactions of the table are in a state now. */
  readonly onCount?: ((state: ForwardState, transactions: number) => void) | undefined
}

/** What became of the transactions that were passed on to the sequencer, the newest of them. */
export class TransactionStates {
  readonly #deps: TransactionStatesDeps
  readonly #max: number
  readonly #entries = new Map<Hash, Entry>()
  readonly #counts = new Map<ForwardState, number>()

  constructor(deps: TransactionStatesDeps, max = maxTransactions) {
    this.#deps = deps
    this.#max = max
  }

  /** A request for it goes out. What the sequencer has already stays so. */
  sending(hash: Hash): void {
    const entry = this.#entries.get(hash) ?? this.#enter(hash)
    entry.tries++
    if (!isWith(entry.state)) this.#move(entry, 'sending')
  }

  /** Nothing more goes out for it now. That a second one is refused says nothing against the first. */
  settle(hash: Hash, state: ForwardState, error?: ForwardedTransaction['error']): void {
    const entry = this.#entries.get(hash) ?? this.#enter(hash)
    if (isWith(entry.state)) return
    entry.error = error
    this.#move(entry, state)
  }

  /** How many the sequencer has that are in no block yet. */
  get taken(): number {
    return this.#counts.get('taken') ?? 0
  }

  /** A block has it, whoever sent it. */
  included(hash: Hash): void {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return
    entry.error = undefined
    this.#move(entry, 'included')
  }

  get(hash: Hash): ForwardedTransaction | undefined {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return undefined
    const { state, tries, sinceMs, error } = entry
    return { state, tries, ageMs: Math.round(this.#deps.clock.elapsedMs() - sinceMs), ...(error && { error }) }
  }

  #enter(hash: Hash): Entry {
    const oldest = this.#entries.size < this.#max ? undefined : this.#entries.keys().next().value
    if (oldest !== undefined) {
      this.#count(this.#entries.get(oldest)?.state, -1)
      this.#entries.delete(oldest)
    }
    const entry: Entry = { state: 'sending', tries: 0, sinceMs: this.#deps.clock.elapsedMs(), error: undefined }
    this.#entries.set(hash, entry)
    this.#count('sending', 1)
    return entry
  }

  #move(entry: Entry, state: ForwardState): void {
    if (entry.state === state) return
    this.#count(entry.state, -1)
    entry.state = state
    this.#count(state, 1)
  }

  #count(state: ForwardState | undefined, by: number): void {
    if (state === undefined) return
    const count = (this.#counts.get(state) ?? 0) + by
    this.#counts.set(state, count)
    this.#deps.onCount?.(state, count)
  }
}

const isWith = (state: ForwardState): boolean => state === 'taken' || state === 'included'
