import { chainFault } from '#chainspec/faults'
import {
  builtInTime,
  differsFrom,
  type ForkDifference,
  forkDifferences,
  isAboveKnown,
  nextUnknownFork,
  type PublishedSchedule,
  publishedForks,
  versionText,
} from '#chainspec/publishedSchedule'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { approachingFork, isReached, type PlannedFork } from '#chainspec/unsupportedFork'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { ConsensusMetrics } from './metrics.ts'

export type ForkGateDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<ConsensusMetrics, 'forkTimes' | 'unsupportedFork' | 'forkDifference'>
}

export type ForkGateOptions = {
  readonly config: RollupConfig
  /** true: a difference between published and built-in times ends the chain at the earlier time; otherwise it is a warning */
  readonly stopsOnDifference?: boolean
}

const dayMs = 86_400_000
const daySec = 86_400

/** Returns whether the error is a stop before a fork. The node then keeps serving its chain. */
export const isForkStop = (error: unknown): error is Fault => isFault(error, 'UNSUPPORTED_FORK') || isFault(error, 'FORK_SCHEDULE_DIFFERS')

const shown = (timeSec: number | undefined): string => (timeSec === undefined ? 'no time' : String(timeSec))

/**
 * Decides before which block the chain ends here: before a fork on L1 that this version does not know, and if chosen before the first time at which
 * built-in and published times differ. Warns ahead of it, and sets the gauges. The published schedule is not
 * proven, so the built-in times alone decide which rules a block follows.
 */
export class ForkGate {
  readonly #deps: ForkGateDeps
  readonly #options: ForkGateOptions
  /** elapsed time of the last warning of each kind */
  readonly #warnedMs = new Map<string, number>()
  #published: PublishedSchedule = { times: [] }
  #differences: readonly ForkDifference[] = []
  #next: PlannedFork | undefined

  constructor(deps: ForkGateDeps, options: ForkGateOptions) {
    this.#deps = deps
    this.#options = options
    this.publish(this.#published)
  }

  /** Takes the schedule that L1 publishes now. */
  publish(published: PublishedSchedule): void {
    const { metrics } = this.#deps
    const { config } = this.#options
    const { times } = published
    this.#published = published
    this.#differences = forkDifferences(config, times)
    this.#next = nextUnknownFork(times)
    for (const [id, fork] of publishedForks.entries()) {
      metrics.forkTimes.set({ fork, source: 'built_in' }, builtInTime(config, fork) ?? 0)
      metrics.forkTimes.set({ fork, source: 'published' }, times[id] ?? 0)
    }
    metrics.forkDifference.set({}, this.#differences.length > 0 ? 1 : 0)
    this.#warnedMs.clear()
    this.report()
  }

  /** Returns the fault that ends the chain before a block of a time (seconds); undefined: the block may follow. */
  faultAt(timestamp: number): Fault | undefined {
    if (this.#next && isReached(this.#next, timestamp)) return chainFault('UNSUPPORTED_FORK', { ...this.#next, timestampSec: timestamp })
    const different = this.#options.stopsOnDifference && this.#differences.find((difference) => timestamp >= differsFrom(difference))
    if (!different) return undefined
    const { fork, builtInSec, publishedSec } = different
    return chainFault('FORK_SCHEDULE_DIFFERS', {
      ...{ fork, builtIn: shown(builtInSec), published: shown(publishedSec), timestampSec: timestamp },
    })
  }

  /** @throws Fault UNSUPPORTED_FORK, FORK_SCHEDULE_DIFFERS (fatal) */
  refuse(timestamp: number): void {
    const fault = this.faultAt(timestamp)
    if (fault) throw fault
  }

  /** Sets the gauge of the time left, and repeats each warning once a day. Call it at every poll of L1. */
  report(): void {
    const { log, metrics } = this.#deps
    const nowSec = this.#nowSec
    const left = this.#next && this.#next.activationSec - nowSec
    metrics.unsupportedFork.set({}, left === undefined ? Number.POSITIVE_INFINITY : Math.max(0, left))
    const coming = approachingFork(this.#next, nowSec)
    if (coming && this.#isDue('fork')) log.warn('unsupported fork ahead, the node will stop before it', coming)
    if (this.#differences.length > 0 && this.#isDue('difference')) for (const difference of this.#differences) this.#warnOf(difference)
    const { minimum } = this.#published
    if (minimum && isAboveKnown(minimum) && this.#isDue('version')) {
      const fix = 'install a newer version before the next fork'
      log.warn('L1 demands a protocol version above the one of this node', { minimum: versionText(minimum), fix })
    }
  }

  /** Returns why the node is about to leave the chain; empty: it is not. */
  problems(): readonly string[] {
    const { times, minimum } = this.#published
    if (minimum === undefined || !isAboveKnown(minimum)) return []
    const nowSec = this.#nowSec
    const isNear = times.some((time) => time > nowSec && time - nowSec <= daySec)
    return isNear ? [`L1 demands protocol version ${versionText(minimum)} for the fork of the next day, install a newer version`] : []
  }

  get #nowSec(): number {
    return Math.floor(this.#deps.clock.nowMs() / 1_000)
  }

  #isDue(kind: string): boolean {
    const nowMs = this.#deps.clock.elapsedMs()
    if (nowMs - (this.#warnedMs.get(kind) ?? Number.NEGATIVE_INFINITY) < dayMs) return false
    this.#warnedMs.set(kind, nowMs)
    return true
  }

  #warnOf({ fork, builtInSec, publishedSec }: ForkDifference): void {
    this.#deps.log.warn('L1 publishes another fork time', {
      ...{ fork, builtIn: shown(builtInSec), published: shown(publishedSec) },
      effect: this.#options.stopsOnDifference ? 'the node stops at the earlier time' : 'the node follows the built-in time',
      fix: 'check the L1 endpoints, or install a version with the published time',
    })
  }
}
