import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SafeHead } from '#derive/ports'
import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import type { EngineQueue } from './engineQueue.ts'
import type { SafeHeadEntry, SafeHeadStore } from './ports.ts'
import type { Start } from './startPoint.ts'

/** Block built on the tip, with the L1 block that completed its batch. */
export type Extension = {
  readonly safe: SafeHead
  readonly derivedFrom: BlockId
  /** false: an invalid later block of the same span batch (before Holocene) also removes this one */
  readonly isFinal: boolean
}

/** Returns the records that a run of derived blocks adds to the store: the last block of each L1 block. Pure. */
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
 * Result of derivation: the labelled safe head, and the blocks derived or confirmed on top of it that are not labelled yet. After a start the tip may
 * be below the safe head: derivation then repeats labelled blocks. The queue owns the unsafe chain.
 */
export class SafeChain {
  readonly #queue: SafeChainDeps['queue']
  readonly #store: SafeChainDeps['store']
  readonly #genesis: RollupConfig['genesis']
  #safeNumber: number
  #base: SafeHead
  #pending: Extension[] = []
  /** last block with a record in the store */
  #recorded: Extension | undefined

  constructor({ queue, store, config }: SafeChainDeps, { settled, point }: Start) {
    this.#queue = queue
    this.#store = store
    this.#genesis = config.genesis
    this.#safeNumber = settled.number
    this.#base = point.safe
  }

  /** Number of the labelled safe head. */
  get safeNumber(): number {
    return this.#safeNumber
  }

  /** Parent of the next derived block. */
  get tip(): SafeHead {
    return this.#pending.at(-1)?.safe ?? this.#base
  }

  get pendingBlocks(): number {
    return this.#pending.length
  }

  /** L1 block from which the tip was derived, while the tip is not labelled. */
  get pendingFrom(): BlockId | undefined {
    return this.#pending.at(-1)?.derivedFrom
  }

  /** Returns a block above the labelled ones. */
  pendingAt(number: number): BlockId | undefined {
    return this.#pending.find(({ safe }) => safe.ref.number === number)?.safe.ref
  }

  extend(extension: Extension): void {
    this.#pending.push(extension)
  }

  /** Removes the blocks of an incomplete span batch. */
  dropIncomplete(): void {
    this.#pending.length = this.#finalCount()
  }

  dropPending(): void {
    this.#pending = []
  }

  /**
   * Labels the derived blocks safe, up to the last final one. Effects, in order: 1 their records become durable in the store, 2 the heads are set.
   * After a crash between them, the blocks of the new records are not canonical in the execution half. The search for the start point skips such
   * records and finds the record of the last labelled head, since each labelled head has one. A record of a block that is canonical, because it was
   * unsafe before, is valid. `commit` may be called again when 2 failed. Blocks that derivation repeated are labelled already and only leave memory.
   * @returns the new safe head; undefined when nothing was labelled
   */
  async commit(signal: AbortSignal): Promise<SafeHead['ref'] | undefined> {
    const count = this.#finalCount()
    const last = this.#pending[count - 1]
    if (last === undefined) return undefined
    if (last.safe.ref.number <= this.#safeNumber) {
      this.#settle(last, count)
      return undefined
    }
    const news = this.#pending.slice(0, count).filter(({ safe }) => safe.ref.number > this.#safeNumber)
    if (this.#recorded !== last) this.#store.append(entriesOf(news))
    this.#recorded = last
    await this.#queue.labelSafe(last.safe.ref, signal)
    this.#safeNumber = last.safe.ref.number
    this.#settle(last, count)
    return last.safe.ref
  }

  /** Drops the first pending blocks, the last of which is labelled. */
  #settle(last: Extension, count: number): void {
    this.#base = last.safe
    this.#pending = this.#pending.slice(count)
  }

  /**
   * Moves to the settled head of a start. Effects, in order: 1 invalid records are dropped, 2 the heads are set. A crash between them leaves heads
   * without a record; the next start moves to the same head. The first start records genesis.
   * @param from the heads for which the start was found
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
