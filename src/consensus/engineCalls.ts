import type { Engine } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { type Backoff, type FailedTry, type Random, retry } from '#lib/retry'
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

/**
 * Calls the execution half until it answers. While it does not, that is the wait 'engine'. That it can be read does not end a wait for
 * writing: its disk may be full.
 */
export class EngineCalls {
  readonly #deps: EngineCallsDeps
  readonly #backoff: Backoff
  #failing: 'read' | 'write' | undefined

  constructor(deps: EngineCallsDeps, backoff: Backoff) {
    this.#deps = deps
    this.#backoff = backoff
  }

  /** @throws Fault ENGINE_LOST (reset) after long, and what else the engine throws */
  read<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#try('read', signal, run)
  }

  /** For what changes the engine. @throws as `read` does */
  write<T>(signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    return this.#try('write', signal, run)
  }

  async #try<T>(doing: 'read' | 'write', signal: AbortSignal, run: (engine: Engine) => Promise<T>): Promise<T> {
    const { engine, clock, random, waits, metrics, log } = this.#deps
    const onFailure = ({ failures, delayMs, error }: FailedTry): void => {
      metrics.failures.inc({ doing: 'engine' })
      log.warn('failed, will try again', { doing: 'engine', failures, delayMs, error })
      this.#unanswered(doing)
      if (waits.enter('engine', error) === 'reset') throw consensusFault('ENGINE_LOST', {}, error)
    }
    using _slow = clock.after(slowCallMs, () => {
      this.#unanswered(doing)
      if (!waits.has('engine')) waits.enter('engine')
    })
    try {
      const result = await retry({ clock, random }, { backoff: this.#backoff, signal, onFailure }, () => run(engine))
      this.#answered(doing)
      return result
    } catch (error) {
      if (!signal.aborted && !isFault(error, 'ENGINE_LOST')) this.#answered(doing)
      throw error
    }
  }

  /** Nothing is being written, and the engine has all that was: what was never answered has been done. */
  idle(): void {
    this.#answered('write')
  }

  #unanswered(doing: 'read' | 'write'): void {
    if (this.#failing !== 'write') this.#failing = doing
  }

  /** A refusal is an answer too. */
  #answered(doing: 'read' | 'write'): void {
    if (this.#failing === 'write' && doing === 'read') return
    this.#failing = undefined
    this.#deps.waits.leave('engine')
  }
}
