const [free, claimed, done, failed] = [0, 1, 2, 3]
const closedAt = 0
const headerInts = 1

/** States of the parts of one state root in shared memory. Each part is claimed once, by one compare-and-exchange. */
export class RootClaims {
  readonly memory: SharedArrayBuffer
  readonly #ints: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#ints = new Int32Array(memory)
  }

  static create(parts: number): RootClaims {
    return new RootClaims(new SharedArrayBuffer(4 * (headerInts + parts)))
  }

  /** @returns false when another thread has the part */
  claim(part: number): boolean {
    return Atomics.compareExchange(this.#ints, headerInts + part, free, claimed) === free
  }

  /** Ends a claimed part. A thread sends the result before it calls this. */
  end(part: number, outcome: 'done' | 'failed'): void {
    Atomics.store(this.#ints, headerInts + part, outcome === 'done' ? done : failed)
    Atomics.notify(this.#ints, headerInts + part)
  }

  /** Waits until a claimed part has ended. @param ms longest wait */
  wait(part: number, ms: number): 'done' | 'failed' | 'late' {
    Atomics.wait(this.#ints, headerInts + part, claimed, ms)
    const state = Atomics.load(this.#ints, headerInts + part)
    return state === done ? 'done' : state === failed ? 'failed' : 'late'
  }

  /** Ends the work of other threads: they claim no more parts. */
  close(): void {
    Atomics.store(this.#ints, closedAt, 1)
  }

  get isClosed(): boolean {
    return Atomics.load(this.#ints, closedAt) === 1
  }
}
