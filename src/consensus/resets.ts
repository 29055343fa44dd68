import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, type Random } from '#lib/retry'
import { consensusFault } from './faults.ts'
import type { ConsensusMetrics } from './metrics.ts'
import type { Escalation } from './waitLadders.ts'
import type { Waits } from './waits.ts'

export type ResetBy = 'pipeline' | 'engine' | 'l1-head' | 'records' | 'wait'

export type ResetsDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<ConsensusMetrics, 'resets'>
  readonly waits: Waits
}

/** Owner of the pending reset and of the count of resets without progress. */
export class Resets {
  readonly #deps: ResetsDeps
  readonly #backoff: Backoff
  #wanted: { readonly by: ResetBy; readonly reason: string } | undefined
  /** reason of the last reset, until derivation makes progress */
  #again: string | undefined
  #isAgain = false
  #count = 0
  #inVain = 0

  constructor(deps: ResetsDeps, backoff: Backoff) {
    this.#deps = deps
    this.#backoff = backoff
  }

  get wanted(): { readonly by: ResetBy; readonly reason: string } | undefined {
    return this.#wanted
  }

  /** number of resets since the process started */
  get count(): number {
    return this.#count
  }

  /** True when the reset has the same reason as the previous one, which did not help. */
  get isAgain(): boolean {
    return this.#isAgain
  }

  want(by: ResetBy, reason: string): void {
    const { waits, metrics, log } = this.#deps
    this.#wanted = { by, reason }
    this.#count++
    waits.leave('l1-head')
    metrics.resets.inc({ by })
    this.#isAgain = reason === this.#again
    this.#again = reason
    log[this.#isAgain ? 'debug' : 'warn']('derivation reset', { by, reason })
  }

  /** Clears the pending reset after it was done. */
  done(): void {
    this.#wanted = undefined
  }

  /** Records progress of derivation, after which the next reset has no pause. */
  progressed(): void {
    this.#inVain = 0
    this.#again = undefined
    this.#deps.waits.leave('reset')
  }

  /**
   * Pauses before a reset. The first reset has no pause; each further one without progress has a longer pause.
   * @returns the step to take in the reset
   */
  async pause(signal: AbortSignal): Promise<Escalation> {
    const { clock, random, waits } = this.#deps
    const vain = this.#inVain++
    if (vain === 0) return 'retry'
    const step = waits.enter('reset', consensusFault('RESETS_IN_VAIN', { reason: this.#wanted?.reason ?? 'unknown' }))
    await clock.delay(backoffMs(this.#backoff, vain, random()), signal)
    return step
  }
}
