import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { ConsensusMetrics } from './metrics.ts'
import { dueStep, type Escalation, escalations, ladders, type WaitReason } from './waitLadders.ts'

/** Frozen snapshot of a wait. */
export type Wait = {
  readonly reason: WaitReason
  /** when it began, by the wall clock, for display */
  readonly sinceMs: number
  /** how long it has lasted, by elapsed time */
  readonly forMs: number
  /** number of failed attempts */
  readonly failures: number
  /** highest step taken */
  readonly step: Escalation
  /** true when the deadline of `retry` has passed: dependent data are stale */
  readonly isOverdue: boolean
  /** fault of the last failed attempt */
  readonly fault?: Fault
}

type Open = {
  readonly sinceMs: number
  readonly startMs: number
  failures: number
  fault: Fault | undefined
  step: Escalation
  takenMs: number
  isOverdue: boolean
}

export type WaitsDeps = {
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>
  readonly log: Log
  readonly metrics: Pick<ConsensusMetrics, 'waits' | 'escalations'>
}

/** Owner of the current waits and their steps. The caller of `enter` runs the step that it returns. */
export class Waits {
  readonly #deps: WaitsDeps
  readonly #open = new Map<WaitReason, Open>()

  constructor(deps: WaitsDeps) {
    this.#deps = deps
  }

  /**
   * Begins or continues a wait. To be called again after each failed attempt and each step.
   * @param error of the last failed attempt; absent: there was no attempt
   * @returns the step that is now due, once; 'retry' between steps
   */
  enter(reason: WaitReason, error?: unknown): Escalation {
    const { clock, log } = this.#deps
    const wait = this.#open.get(reason) ?? this.#begin(reason)
    if (error !== undefined) wait.failures++
    if (error instanceof Fault) wait.fault = error
    const ageMs = clock.elapsedMs() - wait.startMs
    const ladder = ladders[reason]
    if (!wait.isOverdue && ageMs >= (ladder.retry ?? Number.POSITIVE_INFINITY)) {
      wait.isOverdue = true
      log.warn('long wait', { reason, seconds: seconds(ageMs), failures: wait.failures, ...whyOf(wait) })
    }
    this.publish()
    return this.#escalate(reason, wait, ageMs)
  }

  /** Ends a wait, if there is one. */
  leave(reason: WaitReason): void {
    const wait = this.#open.get(reason)
    if (wait === undefined) return
    const { clock, log, metrics } = this.#deps
    this.#open.delete(reason)
    metrics.waits.set({ reason }, 0)
    const fields = { reason, seconds: seconds(clock.elapsedMs() - wait.startMs), failures: wait.failures }
    log[wait.isOverdue || wait.step !== 'retry' ? 'info' : 'debug']('wait ended', fields)
  }

  /** Current waits, oldest first. */
  get current(): readonly Wait[] {
    const nowMs = this.#deps.clock.elapsedMs()
    return [...this.#open].map(([reason, { sinceMs, startMs, failures, step, fault }]) => {
      const forMs = nowMs - startMs
      const isOverdue = forMs >= (ladders[reason].retry ?? Number.POSITIVE_INFINITY)
      return Object.freeze({ reason, sinceMs, forMs, failures, step, isOverdue, ...(fault && { fault }) })
    })
  }

  has(reason: WaitReason): boolean {
    return this.#open.has(reason)
  }

  /** Updates the gauges, before metrics are read. */
  publish(): void {
    const { clock, metrics } = this.#deps
    for (const [reason, { startMs }] of this.#open) metrics.waits.set({ reason }, seconds(clock.elapsedMs() - startMs))
  }

  #begin(reason: WaitReason): Open {
    const { clock, log } = this.#deps
    const [sinceMs, startMs] = [clock.nowMs(), clock.elapsedMs()]
    const wait: Open = { sinceMs, startMs, failures: 0, fault: undefined, step: 'retry', takenMs: startMs, isOverdue: false }
    this.#open.set(reason, wait)
    log.debug('wait started', { reason })
    return wait
  }

  #escalate(reason: WaitReason, wait: Open, ageMs: number): Escalation {
    const { clock, log, metrics } = this.#deps
    const step = dueStep(ladders[reason], ageMs)
    if (step === undefined || step === 'retry') return 'retry'
    const isHigher = escalations.indexOf(step) > escalations.indexOf(wait.step)
    const isAgain = step === wait.step && clock.elapsedMs() - wait.takenMs >= (ladders[reason][step] ?? 0)
    if (!isHigher && !isAgain) return 'retry'
    wait.step = step
    wait.takenMs = clock.elapsedMs()
    metrics.escalations.inc({ reason, step })
    log.warn('wait escalated', { reason, step, seconds: seconds(ageMs), failures: wait.failures, ...whyOf(wait) })
    return step
  }
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10

function whyOf({ fault }: Open): { readonly code?: string; readonly why?: string } {
  return fault ? { code: fault.code, why: fault.message } : {}
}
