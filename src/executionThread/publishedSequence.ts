/** One reader's queue is filled after the other's: so long at most that takes, unless the writer is gone in the middle of it. */
const maxWaitMs = 100

/**
 * How far records of heads have reached all who read the chain. The one who publishes sends a record to each of them and shows it then; a reader
 * uses none before it is shown. So whoever saw a block in the answer of one reader finds it with every other: it is in their queues.
 */
export class PublishedSequence {
  readonly #latest: Int32Array

  /** @param shared the same for all threads; new: no record is shown */
  constructor(shared: SharedArrayBuffer) {
    this.#latest = new Int32Array(shared)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(4)
  }

  get latest(): number {
    return Atomics.load(this.#latest, 0)
  }

  /** To be called by the one thread that publishes, for one record after the other. */
  show(number: number): void {
    Atomics.store(this.#latest, 0, number)
    Atomics.notify(this.#latest, 0)
  }

  /** Waits, blocking this thread, until the record is shown: microseconds. */
  waitFor(number: number): void {
    for (let seen = this.latest; seen < number; seen = this.latest) {
      if (Atomics.wait(this.#latest, 0, seen, maxWaitMs) === 'timed-out') return
    }
  }
}
