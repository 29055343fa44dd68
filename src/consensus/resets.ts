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

/** Owner of the reset that is wanted, and of how long resets have been in vain. */
export class Resets {
  readonly #deps: ResetsDeps
  readonly #backoff: Backoff
  #wanted: { readonly by: ResetBy; readonly reason: string } | undefined
  /** what those were for that came one after the other without progress */
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

  /** since the process began */
  get count(): number {
    return this.#count
  }

  /** The reset is the same as the one before, which did not help. */
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
    log[this.#isAgain ? 'debug' : 'warn']('derivation is reset', { by, reason })
  }

  /** The wanted reset has been done. */
  done(): void {
    this.#wanted = undefined
  }

  /** Derivation has come further: the next reset is free again. */
  progressed(): void {
    this.#inVain = 0
    this.#again = undefined
    this.#deps.waits.leave('reset')
  }

  /** The first reset is free; those that follow without progress between them wait longer and longer. @returns what is to be done in it */
  async pause(signal: AbortSignal): Promise<Escalation> {
    const { clock, random, waits } = this.#deps
    const vain = this.#inVain++
    if (vain === 0) return 'retry'
    const step = waits.enter('reset', consensusFault('RESETS_IN_VAIN', { reason: this.#wanted?.reason ?? 'unknown' }))
    await clock.delay(backoffMs(this.#backoff, vain, random()), signal)
    return step
  }
}
