import type { Clock } from '#lib/clock'
import type { ForwardedTransaction, ForwardState } from '#rpc/submitPorts'
import type { Hash } from '#types/ids'

/** Bound of remembered transactions: 4 MB at some 250 bytes each. The oldest are forgotten. */
const maxTransactions = 16_384

type Entry = { state: ForwardState; tries: number; readonly sinceMs: number; error: ForwardedTransaction['error'] }

export type TransactionStatesDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  /** Called for each change with the number of transactions in a state. */
  readonly onCount?: ((state: ForwardState, transactions: number) => void) | undefined
}

/** States of the newest transactions that were forwarded to the sequencer. */
export class TransactionStates {
  readonly #deps: TransactionStatesDeps
  readonly #max: number
  readonly #entries = new Map<Hash, Entry>()
  readonly #counts = new Map<ForwardState, number>()

  constructor(deps: TransactionStatesDeps, max = maxTransactions) {
    this.#deps = deps
    this.#max = max
  }

  /** Called before each request. A transaction that the sequencer has keeps its state. */
  sending(hash: Hash): void {
    const entry = this.#entries.get(hash) ?? this.#enter(hash)
    entry.tries++
    if (!isWith(entry.state)) this.#move(entry, 'sending')
  }

  /** Called after the last request. A refused repeat does not change the state of a taken transaction. */
  settle(hash: Hash, state: ForwardState, error?: ForwardedTransaction['error']): void {
    const entry = this.#entries.get(hash) ?? this.#enter(hash)
    if (isWith(entry.state)) return
    entry.error = error
    this.#move(entry, state)
  }

  /** Number of transactions that the sequencer has and no block contains yet. */
  get taken(): number {
    return this.#counts.get('taken') ?? 0
  }

  /** Called for each transaction of a block, from any sender. */
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
