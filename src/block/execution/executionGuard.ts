import { engineFault } from '#engine/faults'
import type { InterruptCheck } from '#evm/ports'
import type { Clock } from '#lib/clock'
import { executionFault } from '../faults.ts'
import type { ExecutionWatch } from './executionWatch.ts'

/** Maximum execution time of a block. */
export type RunLimit = {
  readonly maxMs: number
  /** The execution ends earlier when a call of the engine waits. */
  readonly givesWay?: true
}

/** Limit for blocks that are derived from L1 or built here: they are executed however long it takes. */
export const unlimited: RunLimit = { maxMs: Number.POSITIVE_INFINITY }

/**
 * Approximate maximum time per gas, in ns. The highest value in bench/results/evmPrice.json is 90 (a BLS12-381 precompile on a machine with two
 * shared cores).
 */
const slowestNsPerGas = 100
/** Time in milliseconds after which a block that gives way is abandoned when a call of the engine waits. */
const giveWayMs = 500
/** Maximum time of a block in milliseconds while the thread shuts down; for a block without a limit, counted from the first check after the stop. */
const stopMs = 1_000

type Run = {
  readonly number: number
  readonly limit: RunLimit
  /** undefined: the clock has not been read yet */
  startMs: number | undefined
}

/**
 * Limits the execution time of one block at a time. A piece of work (at most a megagas, or a whole precompile) cannot be interrupted, so a piece
 * that would probably exceed the limit is not begun.
 */
export class ExecutionGuard {
  readonly #clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly #watch: ExecutionWatch
  #run: Run | undefined

  constructor(clock: Pick<Clock, 'nowMs' | 'elapsedMs'>, watch: ExecutionWatch) {
    this.#clock = clock
    this.#watch = watch
  }

  /** Interrupt check for all blocks that `run` executes. @throws Fault BLOCK_NOT_EXECUTED, EXECUTION_CLOSING (retry) */
  readonly interruptCheck: InterruptCheck = (pieceGas) => {
    if (this.#run) this.#check(this.#run, pieceGas)
  }

  /**
   * Executes a block and shows it to other threads meanwhile.
   * @param limit absent: the block was executed before and runs to its end
   * @throws Fault BLOCK_NOT_EXECUTED, EXECUTION_CLOSING (retry); the session of the block is unusable afterwards
   */
  run<T>(number: number, limit: RunLimit | undefined, execute: () => T): T {
    this.#run = limit && { number, limit, startMs: limit === unlimited ? undefined : this.#clock.elapsedMs() }
    this.#watch.begin(number, this.#clock.nowMs())
    try {
      return execute()
    } finally {
      this.#watch.end()
      this.#run = undefined
    }
  }

  #check(run: Run, pieceGas: number): void {
    const { number, limit } = run
    if (limit === unlimited && !this.#watch.isStopping) return
    const nowMs = this.#clock.elapsedMs()
    run.startMs ??= nowMs
    const ms = nowMs - run.startMs
    if (ms + (pieceGas * slowestNsPerGas) / 1e6 > limit.maxMs) throw notExecuted(number, `it takes longer than ${limit.maxMs} ms`)
    if (limit.givesWay && ms > giveWayMs && this.#watch.hasWaitingCalls)
      throw notExecuted(number, `it took ${Math.round(ms)} ms and a call of the consensus half is waiting`)
    if (ms > stopMs && this.#watch.isStopping) throw executionFault('EXECUTION_CLOSING', { number })
  }
}

const notExecuted = (number: number, reason: string): Error => engineFault('BLOCK_NOT_EXECUTED', { number, reason })
