import type { RollupConfig } from '#chain/rollupConfig'
import type { SafeHead } from '#derive/ports'
import type { Engine, Heads } from '#engine/port'
import type { BlockId, L2Ref } from '#types/blockRef'
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
  readonly engine: Pick<Engine, 'setHeads'>
  readonly store: Pick<SafeHeadStore, 'append' | 'dropAfter' | 'last'>
  readonly config: RollupConfig
}

/**
 * Owner of the heads: what is labelled safe, and what was derived but is not labelled yet. Unsafe equals safe: nothing is followed but L1. After
 * a start the tip may be below the safe head: what is derived then are the labelled blocks once more.
 */
export class SafeChain {
  readonly #engine: SafeChainDeps['engine']
  readonly #store: SafeChainDeps['store']
  readonly #genesis: RollupConfig['genesis']
  #heads: Heads
  #base: SafeHead
  #pending: Extension[] = []
  /** the last block with an entry in the store */
  #recorded: Extension | undefined

  /** @param base what derivation builds on first: the safe head, or a block below it */
  constructor({ engine, store, config }: SafeChainDeps, heads: Heads, base: SafeHead) {
    this.#engine = engine
    this.#store = store
    this.#genesis = config.genesis
    this.#heads = heads
    this.#base = base
  }

  /** As labelled by the last `commit`. */
  get heads(): Heads {
    return this.#heads
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
   * Labels the derived blocks unsafe and safe, up to the last that is final. Effects, in order: 1 their entries are durable in the store,
   * 2 `setHeads`. After a crash between them the execution half does not have the blocks of the new entries: the start point passes over
   * these and finds the entry of the head that was labelled last, since each labelled head has its own. May be called again when 2 failed.
   * @returns whether anything was labelled
   */
  async commit(): Promise<boolean> {
    const count = this.#finalCount()
    const last = this.#pending[count - 1]
    if (last === undefined || last.safe.ref.number <= this.#heads.safe.number) return false
    const heads = { unsafe: last.safe.ref, safe: last.safe.ref, finalized: this.#heads.finalized }
    const news = this.#pending.slice(0, count).filter(({ safe }) => safe.ref.number > this.#heads.safe.number)
    if (this.#recorded !== last) this.#store.append(entriesOf(news))
    this.#recorded = last
    await this.#engine.setHeads(heads)
    this.#heads = heads
    this.#base = last.safe
    this.#pending = this.#pending.slice(count)
    return true
  }

  /** Labels a block finalized. The caller has proved that it is an ancestor of the safe head and above the finalized one. */
  async finalize(finalized: L2Ref): Promise<void> {
    const heads = { ...this.#heads, finalized }
    await this.#engine.setHeads(heads)
    this.#heads = heads
  }

  /**
   * Goes back to (or stays at) the settled head of a start. Effects, in order: 1 entries that do not hold are dropped, 2 `setHeads`. A crash
   * between them leaves heads that no entry backs; the next start goes back to the same head. Genesis gets its entry at the first start.
   */
  async restart({ entry, settled }: Start): Promise<void> {
    const last = this.#store.last()
    if (last?.safe.hash !== entry?.safe.hash || last?.l1.hash !== entry?.l1.hash) this.#store.dropAfter(entry)
    if (entry === undefined && settled.number === this.#genesis.l2.number) {
      this.#store.append([{ l1: this.#genesis.l1, safe: this.#genesis.l2 }])
    }
    if (settled.hash === this.#heads.safe.hash && settled.hash === this.#heads.unsafe.hash) return
    const heads = { unsafe: settled, safe: settled, finalized: this.#heads.finalized }
    await this.#engine.setHeads(heads)
    this.#heads = heads
  }

  #finalCount(): number {
    return this.#pending.findLastIndex((extension) => extension.isFinal) + 1
  }
}
