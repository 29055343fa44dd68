import { type CommitOutcome, type CommitRequest, type Committer, commitRows } from '#blockchain/commit/committer'
import { type PruneEvent, Pruner } from '#blockchain/pruning/pruner'
import type { Clock } from '#lib/clock'
import type { Kv } from '#store/ports'
import type { Retention } from '#types/chainDistance'

/** Committer as in another thread, whose transactions happen when a test wants, or when a caller waits for them. */
export class LateCommitter implements Committer {
  readonly #kv: Kv
  readonly #clock: Clock
  #request: CommitRequest | undefined
  #outcome: CommitOutcome | undefined
  #shown: CommitOutcome | undefined
  #pruner: Pruner | undefined
  #onOutcome: () => void = () => {}

  constructor(kv: Kv, clock: Clock) {
    this.#kv = kv
    this.#clock = clock
  }

  begin(request: CommitRequest): void {
    if (this.#request || this.#outcome) throw new Error('a second request')
    this.#request = request
  }

  /** Writes the request in progress, if there is one, in a given time. The caller of `begin` has no message yet. */
  write(ms = 1): void {
    if (this.#request === undefined) return
    try {
      commitRows(this.#kv, this.#clock, this.#request)
      this.#outcome = { ms }
      this.#pruner?.committed(ms)
    } catch (error) {
      this.#outcome = { error }
    }
    this.#request = undefined
  }

  /** Writes the request in progress so that readers see it, as before the disk has it: the outcome follows with `deliver`, or when a caller waits. */
  show(): void {
    this.write()
    this.#shown = this.#outcome
    this.#outcome = undefined
  }

  /** Delivers the message about a written request. */
  deliver(): void {
    this.#reveal()
    if (this.#outcome) this.#onOutcome()
  }

  take(wait: boolean): CommitOutcome | undefined {
    if (wait) this.#reveal()
    if (wait) this.write()
    const outcome = this.#outcome
    this.#outcome = undefined
    return outcome
  }

  #reveal(): void {
    this.#outcome ??= this.#shown
    this.#shown = undefined
  }

  onOutcome(run: () => void): void {
    this.#onOutcome = run
  }

  prune(retention: Retention, onEvent: (event: PruneEvent) => void): Disposable {
    this.#pruner = new Pruner({ kv: this.#kv, clock: this.#clock, retention, onEvent })
    return this.#pruner
  }
}
