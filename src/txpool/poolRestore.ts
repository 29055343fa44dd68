import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'

/** Time of a step, in milliseconds. */
const stepMs = 10

export type PoolRestoreDeps = {
  readonly clock: Pick<Clock, 'elapsedMs' | 'after'>
  readonly log: Log
  /** Transactions of the journal, oldest first. */
  readonly raws: Iterator<Uint8Array>
  readonly add: (raws: Iterable<Uint8Array>) => void
  /** Called once, after the last one. @param failed number of those that could not be checked, of all that were read */
  readonly onEnd: (read: number, failed: number) => void
}

/** Adds the transactions of a journal to the pool in steps, so that a start does not wait for thousands of signatures. Disposal ends it early. */
export class PoolRestore implements Disposable {
  readonly #deps: PoolRestoreDeps
  #timer: Disposable | undefined
  #read = 0
  #failed = 0
  #isOver = false

  get isOver(): boolean {
    return this.#isOver
  }

  /** Adds the first ones before it returns. */
  constructor(deps: PoolRestoreDeps) {
    this.#deps = deps
    this.#step()
  }

  /** Adds all transactions that are left. */
  finish(): void {
    if (!this.#isOver) this.#addUntil(() => false)
  }

  [Symbol.dispose](): void {
    this.#end()
    this.#deps.raws.return?.()
  }

  #step(): void {
    const { clock } = this.#deps
    const untilMs = clock.elapsedMs() + stepMs
    this.#addUntil(() => clock.elapsedMs() >= untilMs)
    if (!this.#isOver) this.#timer = clock.after(0, () => this.#step())
  }

  /** Leaves out a transaction that cannot be checked. */
  #addUntil(isTimeUp: () => boolean): void {
    const { add, log, onEnd } = this.#deps
    do {
      try {
        add(this.#next(isTimeUp))
      } catch (error) {
        if (this.#failed++ === 0) log.warn('transactions of the journal of the pool were not restored, they stay in it', { error })
      }
    } while (!this.#isOver && !isTimeUp())
    if (this.#isOver) onEnd(this.#read, this.#failed)
  }

  *#next(isTimeUp: () => boolean): Generator<Uint8Array> {
    const { raws } = this.#deps
    for (let next = raws.next(); !next.done; next = raws.next()) {
      this.#read++
      yield next.value
      if (isTimeUp()) return
    }
    this.#end()
  }

  #end(): void {
    this.#isOver = true
    this.#timer?.[Symbol.dispose]()
  }
}
