import { type CommitOutcome, type CommitRequest, type Committer, writeRequest } from '#blockchain/commit/committer'
import { type PruneEvent, Pruner } from '#blockchain/pruning/pruner'
import type { Clock } from '#lib/clock'
import type { Kv } from '#store/ports'
import type { Retention } from '#types/chainDistance'

/** Committer as in another thread, whose transactions happen when a test wants, or when a caller waits for them. */
export class LateCommitter implements Committer {
  readonly mostInProgress = 2
  readonly #kv: Kv
  readonly #clock: Clock
  readonly #requests: CommitRequest[] = []
  readonly #outcomes: CommitOutcome[] = []
  #pruner: Pruner | undefined
  #onOutcome: () => void = () => {}

  constructor(kv: Kv, clock: Clock) {
    this.#kv = kv
    this.#clock = clock
  }

  begin(request: CommitRequest): void {
    if (this.#requests.length + this.#outcomes.length === this.mostInProgress) throw new Error('too many requests')
    this.#requests.push(request)
  }

  /** Writes the oldest request in progress, if there is one. The caller of `begin` has no message yet. */
  write(): void {
    const request = this.#requests.shift()
    if (request === undefined) return
    try {
      this.#kv.write((tx) => writeRequest(tx, this.#clock, request))
      this.#outcomes.push({ ms: 1 })
      this.#pruner?.committed(1)
    } catch (error) {
      this.#outcomes.push({ error })
      // a request continues the one before it
      this.#outcomes.push(...this.#requests.splice(0).map(() => ({ error })))
    }
  }

  /** Delivers the message about a written request. */
  deliver(): void {
    if (this.#outcomes.length > 0) this.#onOutcome()
  }

  take(wait: boolean): CommitOutcome | undefined {
    if (wait && this.#outcomes.length === 0) this.write()
    return this.#outcomes.shift()
  }

  onOutcome(run: () => void): void {
    this.#onOutcome = run
  }

  prune(retention: Retention, onEvent: (event: PruneEvent) => void): Disposable {
    this.#pruner = new Pruner({ kv: this.#kv, clock: this.#clock, retention, onEvent })
    return this.#pruner
  }
}
