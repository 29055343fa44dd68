import type { L1Label } from '#consensus/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { L1Blocks } from './blocks.ts'
import type { Usage } from './usage.ts'

type SlowLabel = Exclude<L1Label, 'latest'>
const slowLabels: readonly SlowLabel[] = ['safe', 'finalized']

/** Default interval between requests for `safe` and `finalized`. They move once in 32 slots; finality takes twice as long. */
const defaultLabelEveryMs = 96_000
/** Slot time of Ethereum, used until two consecutive blocks were seen. */
const defaultSlotMs = 12_000
/** A head further from the clock than this number of slots belongs to a recorded chain or a syncing endpoint: it can change at any time. */
const liveSlots = 25
/** After this number of slots, a head below the last one is accepted: a lagging endpoint no longer explains it. */
const stubbornSlots = 10
/** After this number of slots without a new block, another endpoint is queried. */
const stuckSlots = 4
/** Waits for a late block: doubled each time. After `giveUp` the slot is treated as empty. */
const lateMs = { first: 1_000, most: 4_000, giveUp: 6_000 }
/** Reduction of the wait for the next block when the last block was there at the first request. */
const earlierMs = 100
const rememberedHeads = 256

/** Compares a requested head with the best head. Pure. */
export function placeHead(
  best: L1Ref | undefined,
  seen: L1Ref,
  hashAt: (number: number) => Hash | undefined,
): 'new' | 'same' | 'behind' | 'unknown' {
  if (best === undefined || seen.number > best.number) return 'new'
  const known = seen.number === best.number ? best.hash : hashAt(seen.number)
  if (seen.number === best.number) return known === seen.hash ? 'same' : 'new'
  if (known === undefined) return 'unknown'
  return known === seen.hash ? 'behind' : 'new'
}

export type HeadsDeps = {
  readonly blocks: Pick<L1Blocks, 'heads' | 'newerHead'>
  readonly clock: Clock
  readonly log: Log
  readonly usage: Pick<Usage, 'moved'>
}

export type HeadsOptions = {
  /** interval between requests for `safe` and `finalized`, for chains where each block moves them */
  readonly labelEveryMs?: number
}

/** Heads of L1, requested only when they can have changed. */
export class L1HeadView {
  readonly #blocks: HeadsDeps['blocks']
  readonly #clock: Clock
  readonly #log: Log
  readonly #usage: HeadsDeps['usage']
  readonly #labelEveryMs: number
  readonly #hashes = new Map<number, Hash>()
  #best: L1Ref | undefined
  /** true when the best head was close to the clock's time */
  #isPaced = false
  #askAtMs = Number.NEGATIVE_INFINITY
  /** time of the last query to all endpoints */
  #searchedAtMs = Number.NEGATIVE_INFINITY
  #slotMs = defaultSlotMs
  /** learned time from a block's timestamp to its first sight, by this clock */
  #delayMs = 0
  /** number of requests that found no new block in `#missedSlot`, the slot counted from the best head's; time of the last one, by the wall clock */
  #misses = 0
  #missedSlot: number | undefined
  #missedAtMs = Number.NEGATIVE_INFINITY
  #belowSinceMs: number | undefined
  #labels: Partial<Record<SlowLabel, L1Ref | undefined>> = {}
  #unread = new Set<SlowLabel>()
  #labelsAtMs = Number.NEGATIVE_INFINITY

  constructor({ blocks, clock, log, usage }: HeadsDeps, { labelEveryMs = defaultLabelEveryMs }: HeadsOptions = {}) {
    this.#blocks = blocks
    this.#clock = clock
    this.#log = log
    this.#usage = usage
    this.#labelEveryMs = labelEveryMs
  }

  /** Last head; undefined before the first one. */
  get latest(): L1Ref | undefined {
    return this.#best
  }

  /**
   * Returns the head. While L1 keeps pace with the clock, this is the last head until the next block is expected. A head below the last one is
   * ignored for as long as the endpoint may just be behind.
   */
  head(label: L1Label, signal: AbortSignal): Promise<L1Ref | undefined> {
    return label === 'latest' ? this.#askLatest(signal) : this.#askLabel(label, signal)
  }

  async #askLatest(signal: AbortSignal): Promise<L1Ref | undefined> {
    if (this.#best !== undefined && this.#clock.elapsedMs() < this.#askAtMs) return this.#best
    const seen = await this.#ask(signal)
    if (seen === undefined) this.#missed()
    else this.#place(seen)
    return this.#best
  }

  /**
   * Requests the head of the preferred endpoint. When new blocks are overdue, requests a newer one of all endpoints first: if none has one, the chain may
   * have lost its last blocks.
   */
  async #ask(signal: AbortSignal): Promise<L1Ref | undefined> {
    const latest = async (): Promise<L1Ref | undefined> => (await this.#blocks.heads(['latest'], signal))[0]
    if (this.#best) return (this.#isOverdue(this.#best) && (await this.#newer(this.#best, signal))) || latest()
    const first = await latest()
    return (first && this.#isOverdue(first) && (await this.#newer(first, signal))) || first
  }

  /** Returns whether to query all endpoints for a newer head. On a recorded chain, whose head stays old, this is limited to one query per four slots. */
  #isOverdue(head: L1Ref): boolean {
    const overdueMs = stuckSlots * this.#slotMs
    const isOld = this.#clock.nowMs() - head.timestamp * 1_000 > overdueMs
    return isOld && (this.#isPaced || this.#clock.elapsedMs() - this.#searchedAtMs > overdueMs)
  }

  #newer({ number }: L1Ref, signal: AbortSignal): Promise<L1Ref | undefined> {
    this.#searchedAtMs = this.#clock.elapsedMs()
    return this.#blocks.newerHead(number, signal)
  }

  #place(seen: L1Ref): void {
    const place = placeHead(this.#best, seen, (number) => this.#hashes.get(number))
    if (place === 'same') this.#belowSinceMs = undefined
    if (place === 'new' || (place !== 'same' && this.#isBelowForLong())) this.#adopt(seen)
    else this.#missed()
  }

  /** Returns whether endpoints have shown a lower head for so long that the best head must be gone. */
  #isBelowForLong(): boolean {
    const nowMs = this.#clock.elapsedMs()
    this.#belowSinceMs ??= nowMs
    return nowMs - this.#belowSinceMs > stubbornSlots * this.#slotMs
  }

  #adopt(seen: L1Ref): void {
    const before = this.#best
    if (before && seen.number < before.number) this.#log.warn('L1 head moved back', { from: before.number, to: seen.number })
    if (before && seen.number > before.number) this.#usage.moved(seen.number - before.number)
    if (before && seen.number === before.number + 1 && seen.timestamp > before.timestamp) this.#learnSlot(seen.timestamp - before.timestamp)
    this.#learnDelay(seen.timestamp)
    this.#best = seen
    this.#belowSinceMs = undefined
    this.#missedSlot = undefined
    this.#remember(seen)
    const waitMs = seen.timestamp * 1_000 + this.#slotMs + this.#delayMs - this.#clock.nowMs()
    this.#isPaced = this.#isLive()
    // limits the wait to one slot, in case the wall clock is wrong
    if (this.#isPaced) this.#askAtMs = this.#clock.elapsedMs() + Math.min(waitMs, this.#slotMs)
  }

  /** Learns the slot time as the shortest distance of two blocks: empty slots only make it longer. */
  #learnSlot(sec: number): void {
    this.#slotMs = Math.min(this.#slotMs, sec * 1_000)
  }

  /**
   * Learns the delay. After a request that missed the block, it arrived between that request and this one. Without one, the next request is a little
   * earlier.
   */
  #learnDelay(timestamp: number): void {
    if (this.#best === undefined) return // the first block may have been there for any time
    const seenMs = this.#clock.nowMs() - timestamp * 1_000
    const missedMs = this.#missedAtMs - timestamp * 1_000
    const delayMs = missedMs >= 0 ? (missedMs + seenMs) / 2 : Math.min(this.#delayMs, seenMs) - earlierMs
    this.#delayMs = Math.min(this.#slotMs, Math.max(0, delayMs))
  }

  #remember({ number, hash, parentHash }: L1Ref): void {
    for (const known of this.#hashes.keys()) if (known > number) this.#hashes.delete(known)
    this.#hashes.set(number - 1, parentHash)
    this.#hashes.set(number, hash)
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= rememberedHeads) break
      this.#hashes.delete(oldest)
    }
  }

  /** Schedules the next request after the next block was not there: it is late, or the slot is empty. */
  #missed(): void {
    const best = this.#best
    this.#missedAtMs = this.#clock.nowMs()
    if (best === undefined || !this.#isLive()) return
    const sinceMs = this.#missedAtMs - best.timestamp * 1_000
    const slot = Math.floor((sinceMs - this.#delayMs) / this.#slotMs)
    this.#misses = slot === this.#missedSlot ? this.#misses + 1 : 1
    this.#missedSlot = slot
    const waitMs = Math.min(lateMs.most, lateMs.first * 2 ** (this.#misses - 1))
    const dueMs = slot * this.#slotMs + this.#delayMs
    const isGivenUp = sinceMs + waitMs > dueMs + lateMs.giveUp
    this.#askAtMs = this.#clock.elapsedMs() + (isGivenUp ? dueMs + this.#slotMs - sinceMs : waitMs)
  }

  #isLive(): boolean {
    const best = this.#best
    return best !== undefined && Math.abs(this.#clock.nowMs() - best.timestamp * 1_000) < liveSlots * this.#slotMs
  }

  /**
   * Returns a labelled block. One request returns both labels. It is repeated after the interval; on a chain far from the clock, when a label is
   * read a second time.
   */
  async #askLabel(label: SlowLabel, signal: AbortSignal): Promise<L1Ref | undefined> {
    const isFresh = this.#isLive() ? this.#clock.elapsedMs() < this.#labelsAtMs : this.#unread.has(label)
    if (!isFresh) {
      const [safe, finalized] = await this.#blocks.heads(slowLabels, signal)
      const before = this.#labels.finalized
      const isBack = before !== undefined && (finalized?.number ?? -1) < before.number
      this.#labels = { safe, finalized: isBack ? before : finalized }
      this.#unread = new Set(slowLabels)
      this.#labelsAtMs = this.#clock.elapsedMs() + this.#labelEveryMs
    }
    this.#unread.delete(label)
    return this.#labels[label]
  }
}
