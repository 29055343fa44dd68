import type { L1Label } from '#consensus/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { L1Blocks } from './blocks.ts'
import type { Usage } from './usage.ts'

/** The heads of L1, asked for no more often than they can have changed. */
export interface L1HeadView {
  /**
   * While L1 keeps pace with the clock: what was seen last, until a next block can be there. A head that an endpoint shows below the one seen
   * is passed over as long as the endpoint may just be behind.
   */
  head(label: L1Label, signal: AbortSignal): Promise<L1Ref | undefined>
  /** The head seen last; undefined: none yet. */
  readonly latest: L1Ref | undefined
}

type SlowLabel = Exclude<L1Label, 'latest'>
const slowLabels: readonly SlowLabel[] = ['safe', 'finalized']

/** How often the labels are asked for, unless told otherwise: they move once in 32 slots, and finality takes twice as long. */
const defaultLabelEveryMs = 96_000
/** Until two blocks in a row were seen; Ethereum. */
const defaultSlotMs = 12_000
/** Further from the clock than this many slots a chain is a recording, or an endpoint that syncs: its head can change at any time. */
const liveSlots = 25
/** A head below the one seen is believed after this many slots: it is not just one endpoint that is behind. */
const stubbornSlots = 10
/** Without a new block for so many slots another endpoint is asked for one. */
const stuckSlots = 4
/** Waits for a block that is late: doubled each time. In a slot without a block it is given up after a while. */
const lateMs = { first: 1_000, most: 4_000, giveUp: 6_000 }
/** How much earlier the next block is asked for when the last one was there at once. */
const earlierMs = 100
const rememberedHeads = 256

/** What a head that was asked for is, beside the one seen last. Pure. */
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

export type HeadsOptions = {
  /** where `safe` and `finalized` move with every block */
  readonly labelEveryMs?: number
}

export function createHeads(
  deps: {
    readonly blocks: Pick<L1Blocks, 'heads' | 'newerHead'>
    readonly clock: Clock
    readonly log: Log
    readonly usage: Pick<Usage, 'moved'>
  },
  { labelEveryMs = defaultLabelEveryMs }: HeadsOptions = {},
): L1HeadView {
  return new Heads(deps.blocks, deps.clock, deps.log, deps.usage, labelEveryMs)
}

class Heads implements L1HeadView {
  readonly #blocks: Pick<L1Blocks, 'heads' | 'newerHead'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #usage: Pick<Usage, 'moved'>
  readonly #labelEveryMs: number
  readonly #hashes = new Map<number, Hash>()
  #best: L1Ref | undefined
  /** whether the head kept pace with the clock when it was seen */
  #isPaced = false
  #askAtMs = Number.NEGATIVE_INFINITY
  #slotMs = defaultSlotMs
  /** from a block's timestamp to its being seen, as this clock tells */
  #delayMs = 0
  /** how often it was asked for in vain in which slot, counted from the best head's; and when last, as the wall clock tells */
  #misses = 0
  #missedSlot: number | undefined
  #missedAtMs = Number.NEGATIVE_INFINITY
  #belowSinceMs: number | undefined
  #labels: Partial<Record<SlowLabel, L1Ref | undefined>> = {}
  #unread = new Set<SlowLabel>()
  #labelsAtMs = Number.NEGATIVE_INFINITY

  constructor(blocks: Pick<L1Blocks, 'heads' | 'newerHead'>, clock: Clock, log: Log, usage: Pick<Usage, 'moved'>, labelEveryMs: number) {
    this.#blocks = blocks
    this.#clock = clock
    this.#log = log
    this.#usage = usage
    this.#labelEveryMs = labelEveryMs
  }

  get latest(): L1Ref | undefined {
    return this.#best
  }

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

  /** The preferred endpoint's head; that of another one when there should have been new blocks for long. */
  async #ask(signal: AbortSignal): Promise<L1Ref | undefined> {
    const best = this.#best
    const isStuck = best !== undefined && this.#isPaced && this.#clock.nowMs() - best.timestamp * 1_000 > stuckSlots * this.#slotMs
    return isStuck ? this.#blocks.newerHead(best.number, signal) : (await this.#blocks.heads(['latest'], signal))[0]
  }

  #place(seen: L1Ref): void {
    const place = placeHead(this.#best, seen, (number) => this.#hashes.get(number))
    if (place === 'same') this.#belowSinceMs = undefined
    if (place === 'new' || (place !== 'same' && this.#isBelowForLong())) this.#adopt(seen)
    else this.#missed()
  }

  /** The head seen is above what is shown now: for so long that it must have gone. */
  #isBelowForLong(): boolean {
    const nowMs = this.#clock.elapsedMs()
    this.#belowSinceMs ??= nowMs
    return nowMs - this.#belowSinceMs > stubbornSlots * this.#slotMs
  }

  #adopt(seen: L1Ref): void {
    const before = this.#best
    if (before && seen.number < before.number) this.#log.warn('the L1 head went back', { from: before.number, to: seen.number })
    if (before && seen.number > before.number) this.#usage.moved(seen.number - before.number)
    if (before && seen.number === before.number + 1 && seen.timestamp > before.timestamp) this.#learnSlot(seen.timestamp - before.timestamp)
    this.#learnDelay(seen.timestamp)
    this.#best = seen
    this.#belowSinceMs = undefined
    this.#missedSlot = undefined
    this.#remember(seen)
    const waitMs = seen.timestamp * 1_000 + this.#slotMs + this.#delayMs - this.#clock.nowMs()
    this.#isPaced = this.#isLive()
    // a clock that is wrong costs one slot at most
    if (this.#isPaced) this.#askAtMs = this.#clock.elapsedMs() + Math.min(waitMs, this.#slotMs)
  }

  /** A slot without a block makes a distance longer, nothing makes it shorter. */
  #learnSlot(sec: number): void {
    this.#slotMs = Math.min(this.#slotMs, sec * 1_000)
  }

  /** Asked before it was there: it came between then and now. There at once: next time it is asked for a little earlier. */
  #learnDelay(timestamp: number): void {
    if (this.#best === undefined) return // who knows for how long it had been there
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

  /** The next block is not there yet: it is late, or the slot has none. */
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

  /** Both labels come with one request; an answer that nobody has read yet is good for the other. */
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
