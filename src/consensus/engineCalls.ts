import type { Engine } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, type FailedTry, isRetryable, type Random, retry } from '#lib/retry'
import { consensusFault } from './faults.ts'
import type { ConsensusMetrics } from './metrics.ts'
import type { Waits } from './waits.ts'

export type EngineCallsDeps = {
  readonly engine: Engine
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: ConsensusMetrics
  readonly waits: Waits
}

/** Duration after which an unanswered call becomes a wait: an unresponsive execution half fails no call for a minute. */
const slowCallMs = 1_000

/**
 * Kinds of calls. An answer to one also ends the waits of the kinds before it. A successful read does not prove that a write succeeds, because the
 * disk may be full.
 */
const doings = ['read', 'write', 'sequence', 'insert'] as const
type Doing = (typeof doings)[number]

/** Calls the execution half and retries until it responds. Meanwhile the wait 'engine' is active. */
export class EngineCalls {
  readonly #deps: EngineCallsDeps
  readonly #backoff: Backoff
  readonly #failing = new Set<Doing>()

  constructor(deps: EngineCallsDeps, backoff: Backoff) {
    this.#deps = deps
    this.#backoff = backoff
  }

  /**
   * Reads from the engine.
   * @throws Fault ENGINE_LOST (reset) after a long failure, and other errors of the engine
   */
  read<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('read', signal, (engine) => this.#try('read', signal, () => run(engine)))
  }

  /** Changes the engine. @throws as `read` does */
  write<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('write', signal, (engine) => this.#try('write', signal, () => run(engine)))
  }

  /**
   * Runs one attempt of a task that `insertAgain` repeats.
   * @throws errors of the engine, including those of severity 'retry'
   */
  insertOnce<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('insert', signal, run)
  }

  /** Repeats a task in which `insertOnce` failed; the task does not include the pauses. @throws as `read` does */
  insertAgain<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#again('insert', signal, task)
  }

  /**
   * Runs one attempt of a task that `sequenceAgain` repeats. The call may take until `seal` is aborted; only the time after that counts as
   * unanswered.
   */
  sequenceOnce<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>, seal?: AbortSignal): Promise<T> {
    return this.#call('sequence', signal, run, seal)
  }

  /** Repeats a task in which `sequenceOnce` failed. @throws as `read` does */
  sequenceAgain<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#again('sequence', signal, task)
  }

  /** Ends the wait for writes: no write is pending, and the engine has the heads it was given, so unanswered writes have succeeded. */
  idle(): void {
    this.#answered('write')
  }

  async #again<T>(doing: Doing, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#try(doing, signal, task)
      this.#end(doing)
      return result
    } catch (error) {
      if (!isFault(error, 'ENGINE_LOST')) this.#end(doing)
      throw error
    }
  }

  #try<T>(doing: Doing, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const { clock, random, waits, metrics, log } = this.#deps
    const onFailure = ({ failures, delayMs, error }: FailedTry): void => {
      metrics.failures.inc({ doing: 'engine' })
      log.warn('engine call failed, retrying', { doing: 'engine', failures, delayMs, error })
      this.#failing.add(doing)
      if (waits.enter('engine', error) === 'reset') throw consensusFault('ENGINE_LOST', {}, error)
    }
    return retry({ clock, random }, { backoff: this.#backoff, signal, onFailure }, run)
  }

  async #call<T>(doing: Doing, signal: AbortSignal, run: (engine: Engine) => Promise<T>, from?: AbortSignal): Promise<T> {
    using watch = new DisposableStack()
    const begin = (): void => void watch.use(this.#watchSilence(doing))
    if (from === undefined || from.aborted) begin()
    else from.addEventListener('abort', begin, { once: true })
    watch.defer(() => from?.removeEventListener('abort', begin))
    try {
      const result = await run(this.#deps.engine)
      this.#answered(doing)
      return result
    } catch (error) {
      if (!signal.aborted && !isRetryable(error) && !isFault(error, 'ENGINE_LOST')) this.#answered(doing)
      throw error
    }
  }

  #watchSilence(doing: Doing): Disposable {
    const { clock, waits } = this.#deps
    return clock.after(slowCallMs, () => {
      this.#failing.add(doing)
      if (!waits.has('engine')) waits.enter('engine')
    })
  }

  /** Ends the waits of this kind and those before it. An error from the engine is an answer too. */
  #answered(doing: Doing): void {
    for (const each of doings.slice(0, doings.indexOf(doing) + 1)) this.#end(each)
  }

  #end(doing: Doing): void {
    this.#failing.delete(doing)
    if (this.#failing.size === 0) this.#deps.waits.leave('engine')
  }
}
