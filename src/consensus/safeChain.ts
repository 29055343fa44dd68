import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SafeHead } from '#derive/ports'
import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import type { EngineQueue } from './engineQueue.ts'
import type { SafeHeadEntry, SafeHeadStore } from './ports.ts'
import type { Start } from './startPoint.ts'

/** A block that was built on the tip, and the L1 block whose reading completed it. */
export type Extension = {
  readonly safe: SafeHead
  readonly derivedFrom: BlockId
  /** false: an invalid later block of its span batch (before Holocene) takes this one back too */
  readonly isFinal: boolean
}

/** The entries that a run of derived blocks adds to the store: the last block of each L1 block. Pure. */
export function entriesOf(extensions: readonly Extension[]): SafeHeadEntry[] {
  const entries: SafeHeadEntry[] = []
  for (const { safe, derivedFrom } of extensions) {
    if (entries.at(-1)?.l1.number === derivedFrom.number) entries.pop()
    entries.push({ l1: derivedFrom, safe: { hash: safe.ref.hash, number: safe.ref.number } })
  }
  return entries
}

export type SafeChainDeps = {
  readonly queue: Pick<EngineQueue, 'labelSafe' | 'restart'>
  readonly store: Pick<SafeHeadStore, 'append' | 'dropAfter' | 'last'>
  readonly config: RollupConfig
}

/**
 * What derivation has made of L1: the labelled safe head, and what was derived or confirmed on top of it but is not labelled yet. After a start
 * the tip may be below the safe head: what is derived then are the labelled blocks once more. The unsafe chain is the queue's business.
 */
export class SafeChain {
  readonly #queue: SafeChainDeps['queue']
  readonly #store: SafeChainDeps['store']
  readonly #genesis: RollupConfig['genesis']
  #safeNumber: number
  #base: SafeHead
  #pending: Extension[] = []
  /** the last block with an entry in the store */
  #recorded: Extension | undefined

  constructor({ queue, store, config }: SafeChainDeps, { settled, point }: Start) {
    this.#queue = queue
    this.#store = store
    this.#genesis = config.genesis
    this.#safeNumber = settled.number
    this.#base = point.safe
  }

  /** Number of the safe head, as labelled last. */
  get safeNumber(): number {
    return this.#safeNumber
  }

  /** What the next block is built on. */
  get tip(): SafeHead {
    return this.#pending.at(-1)?.safe ?? this.#base
  }

  get pendingBlocks(): number {
    return this.#pending.length
  }

  /** The L1 block that the tip was derived from, while the tip is not labelled. */
  get pendingFrom(): BlockId | undefined {
    return this.#pending.at(-1)?.derivedFrom
  }

  /** A block above the labelled ones. */
  pendingAt(number: number): BlockId | undefined {
    return this.#pending.find(({ safe }) => safe.ref.number === number)?.safe.ref
  }

  extend(extension: Extension): void {
    this.#pending.push(extension)
  }

  /** Takes back the blocks of a span batch that is not complete. */
  dropIncomplete(): void {
    this.#pending.length = this.#finalCount()
  }

  /** Takes back every block that is not labelled. */
  dropPending(): void {
    this.#pending = []
  }

  /**
   * Labels the derived blocks safe, up to the last that is final. Effects, in order: 1 their entries are durable in the store, 2 the heads are
   * set. After a crash between them the execution half does not have the blocks of the new entries as canonical ones: the start point passes
   * over these and finds the entry of the head that was labelled last, since each labelled head has its own; an entry whose block is canonical,
   * since it was unsafe before, holds. May be called again when 2 failed.
   * @returns the new safe head, undefined when nothing was labelled
   */
  async commit(signal: AbortSignal): Promise<SafeHead['ref'] | undefined> {
    const count = this.#finalCount()
    const last = this.#pending[count - 1]
    if (last === undefined || last.safe.ref.number <= this.#safeNumber) return undefined
    const news = this.#pending.slice(0, count).filter(({ safe }) => safe.ref.number > this.#safeNumber)
    if (this.#recorded !== last) this.#store.append(entriesOf(news))
    this.#recorded = last
    await this.#queue.labelSafe(last.safe.ref, signal)
    this.#safeNumber = last.safe.ref.number
    this.#base = last.safe
    this.#pending = this.#pending.slice(count)
    return last.safe.ref
  }

  /**
   * Goes back to (or stays at) the settled head of a start. Effects, in order: 1 entries that do not hold are dropped, 2 the heads are set. A
   * crash between them leaves heads that no entry backs; the next start goes back to the same head. Genesis gets its entry at the first start.
   * @param from the heads that the start was found for
   */
  async restart({ entry, settled, unsafe }: Start, from: Heads, signal: AbortSignal): Promise<void> {
    const last = this.#store.last()
    if (last?.safe.hash !== entry?.safe.hash || last?.l1.hash !== entry?.l1.hash) this.#store.dropAfter(entry)
    if (entry === undefined && settled.number === this.#genesis.l2.number) {
      this.#store.append([{ l1: this.#genesis.l1, safe: this.#genesis.l2 }])
    }
    await this.#queue.restart({ safe: settled, unsafe, from }, signal)
  }

  #finalCount(): number {
    return this.#pending.findLastIndex((extension) => extension.isFinal) + 1
  }
}
