import type { BlockId } from '#types/blockRef'
import type { ReceivedFlashblock } from '#types/flashblock'
import type { FlashblockLocation } from '#types/pendingBlock'
import { isExecutable, placeFlashblock, type Tip } from './placeFlashblock.ts'

/** A flashblock and the index of the upstream that sent it first. */
export type BufferedFlashblock = {
  readonly flashblock: ReceivedFlashblock
  readonly from: number
  /** monotonic */
  readonly arrivedMs: number
}

export type Reach = {
  /** the next flashblock to execute */
  readonly next: BufferedFlashblock | undefined
  readonly tip: Tip | undefined
  /** arrival of the newest flashblock that leads to the tip, monotonic; minus infinity: no flashblock leads there */
  readonly newestMs: number
}

/** Returns head and tip as one text, to compare. */
const placeOf = ({ hash }: BlockId, executed: FlashblockLocation | undefined): string => `${hash} ${executed?.payloadId} ${executed?.index}`

type Build = {
  readonly number: number
  readonly flashblocks: Map<number, BufferedFlashblock>
  /** the largest of `flashblocks` */
  lastIndex: number
  /** head and tip at which execution refused the build; it is retried at others */
  refusedAt: string | undefined
}

/** Returns whether execution refused a build at this head and tip. */
const isRefused = ({ refusedAt }: Build, head: BlockId, executed: FlashblockLocation | undefined): boolean =>
  refusedAt !== undefined && (refusedAt === head.hash || refusedAt === placeOf(head, executed))

const maxBuildsPerBlock = 4
/** Maximum flashblocks of a build. A block of 2 s has 11 at 200 ms and 9 at 250 ms, a block of 12 s has 241 at 50 ms. */
const maxFlashblocks = 256
/** Charge for a flashblock besides its transactions, an estimate */
const flashblockOverheadBytes = 2_048

const sizeOf = ({ transactions }: ReceivedFlashblock): number =>
  transactions.reduce((sum, { length }) => sum + length + 64, flashblockOverheadBytes)

/**
 * Flashblocks of blocks above the head, including executed ones: they may fit again after execution drops their block. Keeps the first flashblock for
 * each payload id and index. Bounded to an equal share of bytes for each upstream, four builds a block, and 256 flashblocks a build.
 */
export class FlashblockBuffer {
  readonly #maxBytesEach: number
  /** oldest first */
  readonly #builds = new Map<string, Build>()
  /** by upstream */
  readonly #bytes = new Map<number, number>()

  constructor(maxBytes: number, upstreams: number) {
    this.#maxBytesEach = maxBytes / upstreams
  }

  get sizeBytes(): number {
    return [...this.#bytes.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  /** Returns the number of the block that a build makes. */
  numberOf(payloadId: string): number | undefined {
    return this.#builds.get(payloadId)?.number
  }

  /** Returns the upstream that sent a flashblock first; undefined: it is not held. */
  senderOf(payloadId: string, index: number): number | undefined {
    return this.#builds.get(payloadId)?.flashblocks.get(index)?.from
  }

  /**
   * @param executed its build is never evicted for a newer one
   * @returns false when its upstream has no room left, the index is too large, or the build has another block number
   */
  add(flashblock: BufferedFlashblock, executed: FlashblockLocation | undefined): boolean {
    const { payloadId, index, blockNumber } = flashblock.flashblock
    const hasRoom = index < maxFlashblocks && this.#bytesOf(flashblock.from) + sizeOf(flashblock.flashblock) <= this.#maxBytesEach
    if (!hasRoom || (this.numberOf(payloadId) ?? blockNumber) !== blockNumber) return false
    const build = this.#builds.get(payloadId) ?? this.#begin(payloadId, blockNumber, executed)
    build.flashblocks.set(index, flashblock)
    build.lastIndex = Math.max(build.lastIndex, index)
    this.#count(flashblock, 1)
    return true
  }

  #bytesOf(upstream: number): number {
    return this.#bytes.get(upstream) ?? 0
  }

  /** Counts a flashblock for its upstream: 1 when it is held, -1 when it is removed. */
  #count({ flashblock, from }: BufferedFlashblock, sign: 1 | -1): void {
    this.#bytes.set(from, this.#bytesOf(from) + sign * sizeOf(flashblock))
  }

  /** Evicts the oldest build of a block that has too many. */
  #begin(payloadId: string, number: number, executed: FlashblockLocation | undefined): Build {
    const siblings = [...this.#builds].filter(([, build]) => build.number === number)
    const oldest = siblings.find(([id]) => id !== executed?.payloadId)
    if (siblings.length >= maxBuildsPerBlock && oldest) this.#forget(...oldest)
    const build: Build = { number, flashblocks: new Map(), lastIndex: -1, refusedAt: undefined }
    this.#builds.set(payloadId, build)
    return build
  }

  #forget(payloadId: string, { flashblocks }: Build): void {
    this.#builds.delete(payloadId)
    for (const flashblock of flashblocks.values()) this.#count(flashblock, -1)
  }

  /** Called when execution refused a flashblock that seemed to fit. Its build is not retried at this head and tip. */
  defer({ flashblock }: BufferedFlashblock, head: BlockId, executed: FlashblockLocation | undefined): void {
    const build = this.#builds.get(flashblock.payloadId)
    if (build) build.refusedAt = placeOf(head, executed)
  }

  /** Removes a wrong flashblock: another upstream may send a correct one. Its build is not retried at this head. */
  refuse({ flashblock }: BufferedFlashblock, head: BlockId): void {
    const build = this.#builds.get(flashblock.payloadId)
    if (build === undefined) return
    build.refusedAt = head.hash
    const held = build.flashblocks.get(flashblock.index)
    if (held) this.#count(held, -1)
    build.flashblocks.delete(flashblock.index)
  }

  /** Removes blocks up to the head. */
  prune(headNumber: number): void {
    for (const entry of this.#builds) if (entry[1].number <= headNumber) this.#forget(...entry)
  }

  /** Returns the tip, torn when a later flashblock of its build is held. */
  #tipOf(executed: FlashblockLocation | undefined): Tip | undefined {
    if (executed === undefined) return undefined
    const lastIndex = this.#builds.get(executed.payloadId)?.lastIndex ?? -1
    const { number, payloadId, index } = executed
    return { number, payloadId, index, isTorn: lastIndex > index }
  }

  /**
   * Returns the next flashblock to execute. A build never replaces a newer one.
   * @param builds newest first
   * @param executed undefined: there is no pending block
   */
  #next(
    builds: readonly (readonly [string, Build])[],
    head: BlockId,
    executed: FlashblockLocation | undefined,
  ): BufferedFlashblock | undefined {
    const tip = this.#tipOf(executed)
    let isOlder = false
    for (const [payloadId, build] of builds) {
      const ofTip = payloadId === tip?.payloadId
      const flashblock = isRefused(build, head, executed) ? undefined : build.flashblocks.get(ofTip ? tip.index + 1 : 0)
      const placement = flashblock && placeFlashblock({ head, tip }, flashblock.flashblock)
      if (flashblock && placement && isExecutable(placement) && !(isOlder && placement === 'replace')) return flashblock
      isOlder ||= ofTip
    }
    return undefined
  }

  /** Returns the next flashblock to execute, and the tip after all fitting flashblocks are executed. Costs a step for each of these. */
  reach(head: BlockId, executed: FlashblockLocation | undefined): Reach {
    const builds = [...this.#builds].reverse()
    const next = this.#next(builds, head, executed)
    let at = executed
    let newestMs = Number.NEGATIVE_INFINITY
    for (let step = next; step; step = this.#next(builds, head, at)) {
      const { blockNumber: number, payloadId, index } = step.flashblock
      at = { number, payloadId, index }
      newestMs = Math.max(newestMs, step.arrivedMs)
    }
    return { next, tip: this.#tipOf(at), newestMs }
  }
}
