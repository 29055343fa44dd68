import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import { isExecutable, type Placement, placeFlashblock, type Tip } from './placeFlashblock.ts'

/** What execution has come to: its newest block that is not sealed. */
export type Executed = Omit<Tip, 'isTorn'>

/** A flashblock and the upstream that sent it first. */
export type BufferedFlashblock = {
  readonly flashblock: Flashblock
  readonly from: number
  /** by the clock that does not jump */
  readonly arrivedMs: number
}
export type FittingFlashblock = BufferedFlashblock & { readonly placement: Placement }

export type Reach = {
  readonly tip: Tip | undefined
  /** when the newest of the flashblocks that lead there came; minus infinity: none do */
  readonly newestMs: number
}

/** Head and tip as one text. */
const placeOf = ({ hash }: BlockId, executed: Executed | undefined): string => `${hash} ${executed?.payloadId} ${executed?.index}`

type Build = {
  readonly number: number
  readonly flashblocks: Map<number, BufferedFlashblock>
  /** the largest of `flashblocks` */
  lastIndex: number
  /** where execution refused it: it is tried again elsewhere */
  refusedAt: string | undefined
}

const maxBuildsPerBlock = 4
/** of a flashblock besides its transactions, roughly */
const flashblockOverheadBytes = 2_048

const sizeOf = ({ transactions }: Flashblock): number =>
  transactions.reduce((sum, { length }) => sum + length + 64, flashblockOverheadBytes)

/**
 * Slices of blocks above the head, those that were executed too: when what was executed is dropped, the rest may fit again. The first to come with a
 * payload id and an index stays. Bounded in bytes, and to four builds a block.
 */
export class FlashblockBuffer {
  readonly #maxBytes: number
  /** in the order in which they were first heard of */
  readonly #builds = new Map<string, Build>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** The number of the block that a build makes. */
  numberOf(payloadId: string): number | undefined {
    return this.#builds.get(payloadId)?.number
  }

  /** Who sent a flashblock first; undefined: it is not held. */
  senderOf(payloadId: string, index: number): number | undefined {
    return this.#builds.get(payloadId)?.flashblocks.get(index)?.from
  }

  /**
   * @param executed whose build is not given up for a newer one
   * @returns false: there is no room, or the build has another number
   */
  add(flashblock: BufferedFlashblock, executed: Executed | undefined): boolean {
    const { payloadId, index, blockNumber } = flashblock.flashblock
    const size = sizeOf(flashblock.flashblock)
    const build = this.#builds.get(payloadId) ?? this.#begin(payloadId, blockNumber, executed)
    if (build.number !== blockNumber || this.#bytes + size > this.#maxBytes) return false
    build.flashblocks.set(index, flashblock)
    build.lastIndex = Math.max(build.lastIndex, index)
    this.#bytes += size
    return true
  }

  /** The oldest of too many builds of one block goes. */
  #begin(payloadId: string, number: number, executed: Executed | undefined): Build {
    const beside = [...this.#builds].filter(([, build]) => build.number === number)
    const oldest = beside.find(([id]) => id !== executed?.payloadId)
    if (beside.length >= maxBuildsPerBlock && oldest) this.#forget(...oldest)
    const build: Build = { number, flashblocks: new Map(), lastIndex: -1, refusedAt: undefined }
    this.#builds.set(payloadId, build)
    return build
  }

  #forget(payloadId: string, { flashblocks }: Build): void {
    this.#builds.delete(payloadId)
    for (const { flashblock } of flashblocks.values()) this.#bytes -= sizeOf(flashblock)
  }

  /** A flashblock does not fit there, whatever it seems: its build is not tried again at this head and tip. */
  defer({ flashblock }: BufferedFlashblock, head: BlockId, executed: Executed | undefined): void {
    const build = this.#builds.get(flashblock.payloadId)
    if (build) build.refusedAt = placeOf(head, executed)
  }

  /** Forgets a flashblock that is wrong: another upstream may have the right one. Its build is not tried again at this head. */
  refuse({ flashblock }: BufferedFlashblock, head: BlockId): void {
    const build = this.#builds.get(flashblock.payloadId)
    if (build === undefined) return
    build.refusedAt = head.hash
    if (build.flashblocks.delete(flashblock.index)) this.#bytes -= sizeOf(flashblock)
  }

  /** Forgets blocks up to the head. */
  prune(headNumber: number): void {
    for (const entry of this.#builds) if (entry[1].number <= headNumber) this.#forget(...entry)
  }

  /** The tip with what is known of later flashblocks. */
  tipOf(executed: Executed | undefined): Tip | undefined {
    if (executed === undefined) return undefined
    const lastIndex = this.#builds.get(executed.payloadId)?.lastIndex ?? -1
    return { ...executed, isTorn: lastIndex > executed.index }
  }

  /**
   * What can be executed next, the newest build first; one never takes the place of a newer one.
   * @param executed undefined: nothing is pending
   */
  next(head: BlockId, executed: Executed | undefined): FittingFlashblock | undefined {
    const tip = this.tipOf(executed)
    const here = placeOf(head, executed)
    let isOlder = false
    for (const [payloadId, build] of [...this.#builds].reverse()) {
      const ofTip = payloadId === tip?.payloadId
      const flashblock =
        build.refusedAt === head.hash || build.refusedAt === here ? undefined : build.flashblocks.get(ofTip ? tip.index + 1 : 0)
      const placement = flashblock && placeFlashblock({ head, tip }, flashblock.flashblock)
      if (flashblock && placement && isExecutable(placement) && !(isOlder && placement === 'replace')) return { ...flashblock, placement }
      isOlder ||= ofTip
    }
    return undefined
  }

  /** Where execution will have come to when everything that fits is executed. */
  reach(head: BlockId, executed: Executed | undefined): Reach {
    let at = executed
    let newestMs = Number.NEGATIVE_INFINITY
    for (let next = this.next(head, at); next; next = this.next(head, at)) {
      const { blockNumber: number, payloadId, index } = next.flashblock
      at = { number, payloadId, index }
      newestMs = Math.max(newestMs, next.arrivedMs)
    }
    return { tip: this.tipOf(at), newestMs }
  }
}
