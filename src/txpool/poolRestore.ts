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
  /** Called once, when all are added. @param read their number */
  readonly onEnd: (read: number) => void
}

/** Adds the transactions of a journal to the pool in steps, so that a start does not wait for thousands of signatures. Disposal ends it early. */
export class PoolRestore implements Disposable {
  readonly #deps: PoolRestoreDeps
  #timer: Disposable | undefined
  #read = 0
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

  /** A transaction that cannot be checked is left out. */
  #addUntil(isTimeUp: () => boolean): void {
    const { add, log } = this.#deps
    do {
      try {
        add(this.#next(isTimeUp))
      } catch (error) {
        log.warn('a transaction of the journal of the pool was not restored', { error })
      }
    } while (!this.#isOver && !isTimeUp())
  }

  *#next(isTimeUp: () => boolean): Generator<Uint8Array> {
    const { raws, onEnd } = this.#deps
    while (!this.#isOver) {
      const next = raws.next()
      if (next.done) {
        this.#end()
        onEnd(this.#read)
        return
      }
      this.#read++
      yield next.value
      if (isTimeUp()) return
    }
  }

  #end(): void {
    this.#isOver = true
    this.#timer?.[Symbol.dispose]()
  }
}
