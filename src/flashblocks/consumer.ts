import type { Clock } from '#lib/clock'
import type { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { PendingOutcome, PendingPort } from '#pending/pendingPort'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { Frame } from './decode.ts'
import { flashblocksFault } from './faults.ts'
import { type Executed, type FittingFlashblock, FlashblockBuffer } from './flashblockBuffer.ts'
import type { FlashblocksMetrics } from './metrics.ts'
import { isHeld, placeFlashblock } from './placeFlashblock.ts'

/** What the consumer has to know of execution: both out of one record. */
export type Shown = { readonly head: BlockId; readonly executed: Executed | undefined }

export type ConsumerDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: FlashblocksMetrics
  readonly pending: PendingPort
  readonly shown: () => Shown
  /** false: the head is far behind, and no flashblock can fit */
  readonly isSynced: () => boolean
  /** Told of a flashblock that is wrong by itself, and of one that fitted. */
  readonly judge: (from: number, verdict: { readonly kind: 'good' } | { readonly kind: 'wrong'; readonly text: string }) => void
}

export type ConsumerOptions = {
  /** without a flashblock that fits: then nothing is pending */
  readonly maxAgeMs: number
  readonly maxHeldBytes: number
}

export const defaultHeldBytes = 64 * 2 ** 20

/** A flashblock to execute on what is shown at a head, and for how long it will be fresh. */
type Due = { readonly flashblock: FittingFlashblock; readonly at: Shown; readonly leftMs: number }

/** Takes frames of all upstreams in, and has execution execute what fits, flashblock by flashblock. */
export interface Consumer extends Disposable {
  take(frame: Frame, from: number): void
  /** Told after each new record of heads. */
  headsChanged(): void
  /** Nobody can be believed at the moment: nothing is pending until a flashblock comes that fits. */
  distrust(why: string): void
  /** Why pending is what is sealed; undefined: it follows the feed. */
  staleness(): Fault | undefined
  /** Before metrics are read. */
  collect(): void
}

/**
 * Each frame is placed against what everything that is held comes to, held if it may fit now or later, and executed as soon as what stands
 * before it is. One flashblock at a time is with execution. Without a flashblock that fits for `maxAgeMs` what is pending is dropped; flashblocks stay held,
 * so the next one that fits brings all of it back.
 */
class FeedConsumer implements Consumer {
  readonly #deps: ConsumerDeps
  readonly #maxAgeMs: number
  readonly #held: FlashblockBuffer
  #isPumping = false
  #isClosed = false
  /** of the last flashblock that fitted, by the clock that does not jump; until then, when following began */
  #takenMs: number
  /** flashblocks that came up to then are not executed any more */
  #distrustedMs = Number.NEGATIVE_INFINITY
  #isStale = false
  /** why nothing fits, as far as that is known */
  #why: string | undefined
  #deadline: Disposable | undefined

  constructor(deps: ConsumerDeps, { maxAgeMs, maxHeldBytes }: ConsumerOptions) {
    this.#deps = deps
    this.#maxAgeMs = maxAgeMs
    this.#held = new FlashblockBuffer(maxHeldBytes)
    this.#takenMs = deps.clock.elapsedMs()
    this.#expect(maxAgeMs)
  }

  take(frame: Frame, from: number): void {
    if (this.#isClosed) return
    const { metrics, judge } = this.#deps
    const blockNumber = frame.blockNumber ?? this.#held.numberOf(frame.payloadId)
    const firstFrom = this.#held.senderOf(frame.payloadId, frame.index)
    if (blockNumber === undefined) metrics.frames.inc({ place: 'unnumbered' })
    else if (firstFrom === undefined) this.#place({ ...frame, blockNumber }, from)
    else {
      metrics.frames.inc({ place: 'duplicate' })
      if (firstFrom !== from) judge(from, { kind: 'good' })
    }
  }

  #place(flashblock: Flashblock, from: number): void {
    const { metrics, clock } = this.#deps
    const { index, blockNumber, base } = flashblock
    const arrivedMs = clock.elapsedMs()
    const { head, executed } = this.#deps.shown()
    metrics.parentLag.set({}, blockNumber - 1 - head.number)
    const placement = placeFlashblock({ head, tip: this.#held.reach(head, executed).tip }, flashblock)
    const isOver = placement === 'late' || placement === 'too-far' || placement === 'duplicate'
    const isKept = !isOver && this.#held.add({ flashblock, from, arrivedMs }, executed)
    metrics.frames.inc({ place: isOver || isKept ? placement : 'full' })
    const what = `block ${blockNumber}, flashblock ${index}: ${placement} at head ${head.number}`
    if (isOver || isHeld(placement)) this.#why = `the last was ${what}`
    if (base && (placement === 'orphaned' || placement === 'too-far')) this.#accuse(from, what)
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
      if (!this.#isClosed) this.#deps.log.error('flashblocks of the feed are not executed any more', { error })
    } finally {
      this.#isPumping = false
    }
  }

  /** What can be executed now; what is old is not, unless something new comes after it. */
  #next(): Due | undefined {
    const { clock, shown, isSynced } = this.#deps
    if (this.#isClosed || !isSynced()) return undefined
    const at = shown()
    const { head, executed } = at
    const flashblock = this.#held.next(head, executed)
    if (flashblock === undefined) return undefined
    const { newestMs } = this.#held.reach(head, executed)
    const leftMs = this.#maxAgeMs - (clock.elapsedMs() - newestMs)
    return leftMs > 0 && newestMs > this.#distrustedMs ? { flashblock, at, leftMs } : undefined
  }

  async #execute({ flashblock, at, leftMs }: Due): Promise<void> {
    const { clock, pending, metrics, judge } = this.#deps
    const outcome = await pending.take(flashblock.flashblock, clock.nowMs() + leftMs)
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

  /** What is wrong by itself is forgotten; what does not fit there is tried again when head or tip have moved, if they have not already. */
  #refused(flashblock: FittingFlashblock, { head, executed }: Shown, { reason, text }: Extract<PendingOutcome, { kind: 'refused' }>): void {
    const { metrics, log, shown } = this.#deps
    const { blockNumber: number, payloadId, index } = flashblock.flashblock
    metrics.refused.inc({ reason })
    log.debug('a flashblock of the feed is refused', { number, payloadId, index, reason, text })
    const what = `block ${number}, flashblock ${index}: ${text}`
    this.#why = `the last was ${what}`
    const isWrong = reason === 'rules' || reason === 'transaction' || reason === 'outcome' || reason === 'time'
    if (isWrong) {
      this.#held.refuse(flashblock, head)
      this.#accuse(flashblock.from, what)
    } else if (shown().head.hash === head.hash && isSameTip(shown().executed, executed)) this.#held.defer(flashblock, head, executed)
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
    log.warn('pending is what is sealed', { error: this.staleness() })
    pending.drop('stale').catch((error: unknown) => log.debug('nothing to drop', { error }))
  }
}

const isSameTip = (one: Executed | undefined, other: Executed | undefined): boolean =>
  one?.payloadId === other?.payloadId && one?.index === other?.index

export function createConsumer(deps: ConsumerDeps, options: ConsumerOptions): Consumer {
  return new FeedConsumer(deps, options)
}
