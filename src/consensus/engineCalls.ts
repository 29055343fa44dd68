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

/** A call that has been open for so long is a wait: a half that is silent fails nothing for a minute. */
const slowCallMs = 1_000

/** Each answers for itself and those before it: that the engine can be read does not show that it can be written, its disk may be full. */
const doings = ['read', 'write', 'sequence', 'insert'] as const
type Doing = (typeof doings)[number]

/** Calls the execution half until it answers. While it does not, that is the wait 'engine'. */
export class EngineCalls {
  readonly #deps: EngineCallsDeps
  readonly #backoff: Backoff
  readonly #failing = new Set<Doing>()

  constructor(deps: EngineCallsDeps, backoff: Backoff) {
    this.#deps = deps
    this.#backoff = backoff
  }

  /** @throws Fault ENGINE_LOST (reset) after long, and what else the engine throws */
  read<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('read', signal, (engine) => this.#try('read', signal, () => run(engine)))
  }

  /** For what changes the engine. @throws as `read` does */
  write<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('write', signal, (engine) => this.#try('write', signal, () => run(engine)))
  }

  /** One try, for a task that `insertAgain` repeats. @throws what the engine throws, those of severity 'retry' among them */
  insertOnce<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#call('insert', signal, run)
  }

  /** Repeats a task in which `insertOnce` failed; the pauses are no part of the task. @throws as `read` does */
  insertAgain<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#again('insert', signal, task)
  }

  /** One try, for a task that `sequenceAgain` repeats, of what may go on until `seal` is aborted: silence counts from then on. */
  sequenceOnce<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>, seal?: AbortSignal): Promise<T> {
    return this.#call('sequence', signal, run, seal)
  }

  /** Repeats a task in which `sequenceOnce` failed. @throws as `read` does */
  sequenceAgain<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    return this.#again('sequence', signal, task)
  }

  /** Nothing is being written, and the engine has all that was: what was never answered has been done. */
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
      log.warn('failed, will try again', { doing: 'engine', failures, delayMs, error })
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

  /** A refusal is an answer too. */
  #answered(doing: Doing): void {
    for (const each of doings.slice(0, doings.indexOf(doing) + 1)) this.#end(each)
  }

  #end(doing: Doing): void {
    this.#failing.delete(doing)
    if (this.#failing.size === 0) this.#deps.waits.leave('engine')
  }
}
