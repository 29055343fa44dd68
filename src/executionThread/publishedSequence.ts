/** Longest wait for a record to be shown, which takes only until it is in all queues, unless its writer ended meanwhile. */
const maxWaitMs = 100

/**
 * Number of the last record that all readers of the chain have received. The writer sends a record to each reader, then shows it; a reader uses no
 * record before it is shown. So a client that saw a block in the answer of one reader finds it at every other reader.
 */
export class PublishedSequence {
  readonly #latest: Int32Array

  /** @param shared the same buffer in all threads; new: no record is shown */
  constructor(shared: SharedArrayBuffer) {
    this.#latest = new Int32Array(shared)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(4)
  }

  get latest(): number {
    return Atomics.load(this.#latest, 0)
  }

  /** Shows a record. Called by the writing thread only, in order. */
  show(number: number): void {
    Atomics.store(this.#latest, 0, number)
    Atomics.notify(this.#latest, 0)
  }

  /** Blocks this thread until the record is shown, which takes microseconds. */
  waitFor(number: number): void {
    for (let seen = this.latest; seen < number; seen = this.latest) {
      if (Atomics.wait(this.#latest, 0, seen, maxWaitMs) === 'timed-out') return
    }
  }
}
