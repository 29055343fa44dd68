/** A block in execution. */
export type RunningBlock = { readonly number: number; readonly forMs: number }

/** The last payload whose execution was abandoned. */
export type AbandonedBlock = { readonly number: number; readonly afterMs: number }

/** Number of blocks whose execution was abandoned since the start. */
export type AbandonedCounts = { readonly payload: number; readonly pending: number }

const [numberAt, sinceAt, abandonedNumberAt, abandonedMsAt] = [0, 1, 2, 3]
const longs = 4
const [waitingAt, stopAt, payloadsAt, pendingAt] = [0, 1, 2, 3]
const ints = 4

/**
 * Shared memory between the execution thread and the thread that calls it. It carries state while a block runs and no messages are read. Each cell
 * has one writer, except the count of waiting calls, which both threads change.
 */
export class ExecutionWatch {
  /** number and start (wall clock, ms; 0: idle) of the running block; number and duration (ms) of the last abandoned payload */
  readonly #longs: BigInt64Array
  /** waiting calls of the engine; 1 when the thread must stop; abandoned payloads; abandoned pending blocks */
  readonly #ints: Int32Array

  constructor(memory: SharedArrayBuffer = ExecutionWatch.create()) {
    this.#longs = new BigInt64Array(memory, 0, longs)
    this.#ints = new Int32Array(memory, longs * 8, ints)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(longs * 8 + ints * 4)
  }

  // called by the execution thread

  /** Records that a block runs. @param nowMs wall clock */
  begin(number: number, nowMs: number): void {
    Atomics.store(this.#longs, numberAt, BigInt(number))
    Atomics.store(this.#longs, sinceAt, BigInt(Math.max(1, Math.floor(nowMs))))
  }

  end(): void {
    Atomics.store(this.#longs, sinceAt, 0n)
  }

  /** Records that the thread has received a call of the engine. */
  took(): void {
    Atomics.sub(this.#ints, waitingAt, 1)
  }

  get hasWaitingCalls(): boolean {
    return Atomics.load(this.#ints, waitingAt) > 0
  }

  get isStopping(): boolean {
    return Atomics.load(this.#ints, stopAt) === 1
  }

  abandonedPayload(number: number, ms: number): void {
    Atomics.store(this.#longs, abandonedMsAt, BigInt(Math.round(ms)))
    Atomics.store(this.#longs, abandonedNumberAt, BigInt(number))
    Atomics.add(this.#ints, payloadsAt, 1)
  }

  abandonedPending(): void {
    Atomics.add(this.#ints, pendingAt, 1)
  }

  // called by the calling thread

  /** Records that a call of the engine was sent. */
  called(): void {
    Atomics.add(this.#ints, waitingAt, 1)
  }

  /** Tells the execution thread to stop. A running block is abandoned if it takes long. */
  stop(): void {
    Atomics.store(this.#ints, stopAt, 1)
  }

  /** Returns the block in execution; undefined when there is none. @param nowMs wall clock */
  running(nowMs: number): RunningBlock | undefined {
    const sinceMs = Number(Atomics.load(this.#longs, sinceAt))
    if (sinceMs === 0) return undefined
    return { number: Number(Atomics.load(this.#longs, numberAt)), forMs: Math.max(0, nowMs - sinceMs) }
  }

  /** Returns the last payload whose execution was abandoned; undefined when there was none since the start. */
  abandoned(): AbandonedBlock | undefined {
    if (this.counts().payload === 0) return undefined
    return { number: Number(Atomics.load(this.#longs, abandonedNumberAt)), afterMs: Number(Atomics.load(this.#longs, abandonedMsAt)) }
  }

  counts(): AbandonedCounts {
    return { payload: Atomics.load(this.#ints, payloadsAt), pending: Atomics.load(this.#ints, pendingAt) }
  }
}
