/** A block that is being executed. */
export type RunningBlock = { readonly number: number; readonly forMs: number }

/** The newest block whose execution was ended before its end. */
export type AbandonedBlock = { readonly number: number; readonly afterMs: number }

/** Blocks whose execution was ended before its end, since the start. */
export type AbandonedCounts = { readonly payload: number; readonly pending: number }

const [numberAt, sinceAt, abandonedNumberAt, abandonedMsAt] = [0, 1, 2, 3]
const longs = 4
const [waitingAt, stopAt, payloadsAt, pendingAt] = [0, 1, 2, 3]
const ints = 4

/**
 * What the thread that executes blocks and the thread that calls it know of each other while a block runs, when no message is read. In shared
 * memory: each cell has one writer, but `waiting`, which both count.
 */
export class ExecutionWatch {
  /** number and begin (wall clock, ms; 0: idle) of the block that runs; number and duration (ms) of the newest one that was abandoned */
  readonly #longs: BigInt64Array
  /** calls of the engine that wait; 1: the thread is to end; abandoned payloads; abandoned blocks that were not sealed */
  readonly #ints: Int32Array

  constructor(memory: SharedArrayBuffer = ExecutionWatch.create()) {
    this.#longs = new BigInt64Array(memory, 0, longs)
    this.#ints = new Int32Array(memory, longs * 8, ints)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(longs * 8 + ints * 4)
  }

  // the thread that executes

  /** A block runs from now on. @param nowMs wall clock */
  begin(number: number, nowMs: number): void {
    Atomics.store(this.#longs, numberAt, BigInt(number))
    Atomics.store(this.#longs, sinceAt, BigInt(Math.max(1, Math.floor(nowMs))))
  }

  end(): void {
    Atomics.store(this.#longs, sinceAt, 0n)
  }

  /** A call of the engine is being answered. */
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

  // the thread that calls

  /** A call of the engine was sent. */
  called(): void {
    Atomics.add(this.#ints, waitingAt, 1)
  }

  /** Ends the block that runs, if it takes long. */
  stop(): void {
    Atomics.store(this.#ints, stopAt, 1)
  }

  /** @param nowMs wall clock @returns undefined: no block is being executed */
  running(nowMs: number): RunningBlock | undefined {
    const sinceMs = Number(Atomics.load(this.#longs, sinceAt))
    if (sinceMs === 0) return undefined
    return { number: Number(Atomics.load(this.#longs, numberAt)), forMs: Math.max(0, nowMs - sinceMs) }
  }

  /** The newest payload whose execution was abandoned since the start. */
  abandoned(): AbandonedBlock | undefined {
    if (this.counts().payload === 0) return undefined
    return { number: Number(Atomics.load(this.#longs, abandonedNumberAt)), afterMs: Number(Atomics.load(this.#longs, abandonedMsAt)) }
  }

  counts(): AbandonedCounts {
    return { payload: Atomics.load(this.#ints, payloadsAt), pending: Atomics.load(this.#ints, pendingAt) }
  }
}
