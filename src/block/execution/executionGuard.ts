import { engineFault } from '#engine/faults'
import type { InterruptCheck } from '#evm/ports'
import type { Clock } from '#lib/clock'
import { executionFault } from '../faults.ts'
import type { ExecutionWatch } from './executionWatch.ts'

/** How long a block may run. */
export type RunLimit = {
  readonly maxMs: number
  /** Ends earlier while a call of the engine waits. */
  readonly givesWay?: true
}

/** Of a block that L1 says, or that is made here: it is executed however long it takes. */
export const unlimited: RunLimit = { maxMs: Number.POSITIVE_INFINITY }

/**
 * Time that a gas takes at most, about, in ns: the worst of bench/results/evmPrice.json is 90 (a BLS12-381 precompile on a machine of two shared
 * cores).
 */
const slowestNsPerGas = 100
/** A block that gives way may run so long while a call of the engine waits. */
const giveWayMs = 500
/** A block may run so long when the thread is to end; one without a limit, so long from then on. */
const stopMs = 1_000

type Run = {
  readonly number: number
  readonly limit: RunLimit
  /** undefined: no look at the clock was needed yet */
  startMs: number | undefined
}

/**
 * Limits the time of each block that is executed, one at a time. A piece of work (at most a megagas, or a whole precompile) cannot be
 * interrupted, so a piece that would probably end after the limit is not begun.
 */
export class ExecutionGuard {
  readonly #clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly #watch: ExecutionWatch
  #run: Run | undefined

  constructor(clock: Pick<Clock, 'nowMs' | 'elapsedMs'>, watch: ExecutionWatch) {
    this.#clock = clock
    this.#watch = watch
  }

  /** For all blocks that `run` executes. @throws Fault BLOCK_NOT_EXECUTED, EXECUTION_CLOSING (retry) */
  readonly pace: InterruptCheck = (pieceGas) => {
    if (this.#run) this.#check(this.#run, pieceGas)
  }

  /**
   * Executes a block, which other threads see meanwhile.
   * @param limit absent: the block was executed before and is run to its end
   * @throws Fault BLOCK_NOT_EXECUTED, EXECUTION_CLOSING (retry); then the session of the block is of no use
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
      throw notExecuted(number, `it took ${Math.round(ms)} ms, and a call of the consensus half waits`)
    if (ms > stopMs && this.#watch.isStopping) throw executionFault('EXECUTION_CLOSING', { number })
  }
}

const notExecuted = (number: number, reason: string): Error => engineFault('BLOCK_NOT_EXECUTED', { number, reason })
