import type { Clock } from '#lib/clock'
import type { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { BlockId } from '#types/blockRef'
import type { ReceivedFlashblock } from '#types/flashblock'
import { type FlashblockLocation, isSameFlashblock } from '#types/pendingBlock'
import type { FeedMessage } from './decode.ts'
import { flashblocksFault } from './faults.ts'
import { type BufferedFlashblock, FlashblockBuffer } from './flashblockBuffer.ts'
import type { FlashblocksMetrics } from './metrics.ts'
import { isHeld, placeFlashblock } from './placeFlashblock.ts'

/** Head and last executed flashblock, both of one record. */
export type Shown = { readonly head: BlockId; readonly executed: FlashblockLocation | undefined }

export type ConsumerDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: FlashblocksMetrics
  readonly pending: PendingPort
  /** Returns those of the published record. */
  readonly shown: () => Shown
  /** false: the head is far behind the chain, so no flashblock can fit */
  readonly isSynced: () => boolean
  /** Called with the verdict on a flashblock: executed, or wrong regardless of head and tip. */
  readonly judge: (from: number, verdict: { readonly kind: 'good' } | { readonly kind: 'wrong'; readonly text: string }) => void
}

export type ConsumerOptions = {
  /** longest time without a fitting flashblock; then the pending blocks are dropped */
  readonly maxAgeMs: number
  /** of all upstreams; each has an equal share */
  readonly maxHeldBytes: number
  /** number of upstreams */
  readonly upstreams: number
}

export const defaultHeldBytes = 64 * 2 ** 20

/** A flashblock to execute, the record it was placed against, and how long it stays fresh. */
type Due = { readonly flashblock: BufferedFlashblock; readonly at: Shown; readonly leftMs: number }

/** Places the flashblocks of all upstreams and executes those that fit, one at a time, in the execution thread. */
export interface Consumer extends Disposable {
  take(flashblock: FeedMessage, from: number): void
  /** Called after each new record of heads. */
  headsChanged(): void
  /** Drops the pending blocks until the next fitting flashblock arrives. */
  distrust(why: string): void
  /** Returns PENDING_STALE while the feed is stale; undefined while pending blocks follow the feed. */
  staleness(): Fault | undefined
  /** Updates the gauges; called before each read of the metrics. */
  collect(): void
}

/**
 * Places each flashblock against the tip that all held flashblocks lead to, holds it if it may fit now or later, and executes it once every
 * flashblock before it is executed. Drops the pending blocks when no flashblock fitted for `maxAgeMs`. Held flashblocks stay, so the next fitting one
 * restores all pending blocks.
 */
class FeedConsumer implements Consumer {
  readonly #deps: ConsumerDeps
  readonly #maxAgeMs: number
  readonly #held: FlashblockBuffer
  #isPumping = false
  #isClosed = false
  /** Monotonic time of the last fitting flashblock; before the first, the time at which the consumer started */
  #takenMs: number
  /** Monotonic time; flashblocks that arrived earlier are not executed */
  #distrustedMs = Number.NEGATIVE_INFINITY
  #isStale = false
  /** the last known reason why no flashblock fits */
  #why: string | undefined
  #deadline: Disposable | undefined

  constructor(deps: ConsumerDeps, { maxAgeMs, maxHeldBytes, upstreams }: ConsumerOptions) {
    this.#deps = deps
    this.#maxAgeMs = maxAgeMs
    this.#held = new FlashblockBuffer(maxHeldBytes, upstreams)
    this.#takenMs = deps.clock.elapsedMs()
    this.#expect(maxAgeMs)
  }

  take(flashblock: FeedMessage, from: number): void {
    if (this.#isClosed) return
    const { metrics, judge } = this.#deps
    const blockNumber = flashblock.blockNumber ?? this.#held.numberOf(flashblock.payloadId)
    const firstFrom = this.#held.senderOf(flashblock.payloadId, flashblock.index)
    if (blockNumber === undefined) metrics.received.inc({ place: 'unnumbered' })
    else if (firstFrom === undefined) this.#place({ ...flashblock, blockNumber }, from)
    else {
      metrics.received.inc({ place: 'duplicate' })
      if (firstFrom !== from) judge(from, { kind: 'good' })
    }
  }

  #place(flashblock: ReceivedFlashblock, from: number): void {
    const { metrics, clock } = this.#deps
    const { index, blockNumber, base } = flashblock
    const arrivedMs = clock.elapsedMs()
    const { head, executed } = this.#deps.shown()
    metrics.parentLag.set({}, blockNumber - 1 - head.number)
    const placement = placeFlashblock({ head, tip: this.#held.reach(head, executed).tip }, flashblock)
    const isOver = placement === 'late' || placement === 'too-far' || placement === 'duplicate'
    const isKept = !isOver && this.#held.add({ flashblock, from, arrivedMs }, executed)
    metrics.received.inc({ place: isOver || isKept ? placement : 'full' })
    const location = `block ${blockNumber}, flashblock ${index}: ${placement} at head ${head.number}`
    if (isOver || isHeld(placement)) this.#why = `the last was ${location}`
    if (base && (placement === 'orphaned' || placement === 'too-far')) this.#accuse(from, location)
    if (isKept) void this.#pump()
  }

  headsChanged(): void {
    this.#held.prune(this.#deps.shown().head.number)
    void this.#pump()
  }

  distrust(why: string): void {
    this.#why = why
    this.#distrustedMs = this.#deps.clock.elapsedMs()
    this.#fallBack()
  }

  staleness(): Fault | undefined {
    if (!this.#isStale) return undefined
    const forSec = Math.round((this.#deps.clock.elapsedMs() - this.#takenMs) / 1_000)
    return flashblocksFault('PENDING_STALE', { forSec, why: this.#why ?? 'the feed is silent' })
  }

  collect(): void {
    const { metrics, clock, shown } = this.#deps
    const { executed } = shown()
    metrics.held.set({}, this.#held.sizeBytes)
    metrics.age.set({}, (clock.elapsedMs() - this.#takenMs) / 1_000)
    metrics.pendingNumber.set({}, executed?.number ?? 0)
    metrics.pendingFlashblocks.set({}, executed ? executed.index + 1 : 0)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#deadline?.[Symbol.dispose]()
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      for (let due = this.#next(); due; due = this.#next()) await this.#execute(due)
    } catch (error) {
      if (!this.#isClosed) this.#deps.log.error('execution of flashblocks stopped', { error })
    } finally {
      this.#isPumping = false
    }
  }

  /** Returns the next flashblock to execute. An old flashblock is executed only when a newer one follows it. */
  #next(): Due | undefined {
    const { clock, shown, isSynced } = this.#deps
    if (this.#isClosed || !isSynced()) return undefined
    const at = shown()
    const { head, executed } = at
    const { next: flashblock, newestMs } = this.#held.reach(head, executed)
    if (flashblock === undefined) return undefined
    const leftMs = this.#maxAgeMs - (clock.elapsedMs() - newestMs)
    return leftMs > 0 && newestMs > this.#distrustedMs ? { flashblock, at, leftMs } : undefined
  }

  async #execute({ flashblock, at, leftMs }: Due): Promise<void> {
    const { clock, pending, metrics, judge } = this.#deps
    const outcome = await pending.take(flashblock.flashblock, at.executed, clock.nowMs() + leftMs)
    if (this.#isClosed) return
    if (outcome.kind === 'refused') {
      this.#refused(flashblock, at, outcome)
    } else {
      metrics.take.observe({}, (clock.elapsedMs() - flashblock.arrivedMs) / 1_000)
      judge(flashblock.from, { kind: 'good' })
      if (flashblock.arrivedMs > this.#distrustedMs) this.#followed(leftMs)
    }
  }

  #followed(leftMs: number): void {
    const { clock, log, metrics } = this.#deps
    this.#takenMs = clock.elapsedMs()
    this.#why = undefined
    metrics.state.set({}, 1)
    if (this.#isStale) log.info('pending follows the feed again')
    this.#isStale = false
    this.#expect(leftMs)
  }

  /** Drops a flashblock that is wrong itself. Holds one that does not fit, and retries it when head or tip have changed. */
  #refused(
    flashblock: BufferedFlashblock,
    { head, executed }: Shown,
    { reason, text }: Extract<PendingOutcome, { kind: 'refused' }>,
  ): void {
    const { metrics, log, shown } = this.#deps
    const { blockNumber: number, payloadId, index } = flashblock.flashblock
    metrics.refused.inc({ reason })
    log.debug('flashblock refused', { number, payloadId, index, reason, text })
    const description = `block ${number}, flashblock ${index}: ${text}`
    this.#why = `the last was ${description}`
    const isWrong = reason === 'rules' || reason === 'transaction' || reason === 'outcome' || reason === 'time'
    if (isWrong) {
      this.#held.refuse(flashblock, head)
      this.#accuse(flashblock.from, description)
    } else if (shown().head.hash === head.hash && isSameFlashblock(shown().executed, executed)) this.#held.defer(flashblock, head, executed)
  }

  #accuse(from: number, text: string): void {
    if (this.#deps.isSynced()) this.#deps.judge(from, { kind: 'wrong', text })
  }

  #expect(ms: number): void {
    this.#deadline?.[Symbol.dispose]()
    this.#deadline = this.#deps.clock.after(ms, () => this.#fallBack())
  }

  #fallBack(): void {
    if (this.#isStale || this.#isClosed) return
    const { log, metrics, pending } = this.#deps
    this.#isStale = true
    metrics.state.set({}, 0)
    log.warn('no fresh pending block', { error: this.staleness() })
    pending.drop('stale').catch((error: unknown) => log.debug('pending blocks not dropped', { error }))
  }
}

export function createConsumer(deps: ConsumerDeps, options: ConsumerOptions): Consumer {
  return new FeedConsumer(deps, options)
}
