/** Time for which an answer waits for others of its turn: about as long as a turn with a short request of each client takes. */
const maxWaitMs = 0.5

/** Has answers that wait to be written. */
type Writer = { write(): void }

/**
 * Writes the short answers of a turn of the event loop one after the other, at its end. A write wakes the client, which costs more than the
 * answer. A client with several connections then stays awake for all of them, instead of being woken by each.
 */
export class TurnWrites {
  readonly #writers: Writer[] = []
  #nowMs = 0
  #sinceMs = 0

  /** Called before an answer is made. Writes those that have waited for long. */
  beforeAnswer(nowMs: number): void {
    this.#nowMs = nowMs
    if (this.#writers.length > 0 && nowMs - this.#sinceMs > maxWaitMs) this.#writeAll()
  }

  /** Adds a writer whose first answer waits. */
  add(writer: Writer): void {
    if (this.#writers.push(writer) > 1) return
    this.#sinceMs = this.#nowMs
    setImmediate(() => this.#writeAll())
  }

  #writeAll(): void {
    for (const writer of this.#writers.splice(0)) writer.write()
  }
}
