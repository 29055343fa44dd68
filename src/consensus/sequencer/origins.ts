import type { L1Block } from '#derive/ports'
import { abortable } from '#lib/abortable'
import type { Clock } from '#lib/clock'
import { isRetryable } from '#lib/retry'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { L1Trail } from '../l1Trail.ts'
import type { L1Source } from '../ports.ts'

export type OriginsDeps = {
  readonly l1: Pick<L1Source, 'ref' | 'block'>
  readonly trail: Pick<L1Trail, 'contradicts' | 'hashAt'>
  readonly clock: Clock
}

/** Pause after a failed fetch: longer than a normal response of L1, short compared to the block time. */
const againMs = 250

type Wanted = { readonly key: string; readonly fetch: (signal: AbortSignal) => Promise<L1Block | undefined> }
type Search = { readonly key: string; isOver: boolean; failedMs: number | undefined; fatal: unknown; readonly done: Promise<void> }

/**
 * Possible L1 origins of the next L2 blocks: the head's origin and the block after it. They are fetched while blocks are built. A caller waits a
 * bounded time, because a block can keep its parent's origin.
 */
export class Origins {
  readonly #deps: OriginsDeps
  readonly #signal: AbortSignal
  /** newest last */
  #known: readonly L1Block[] = []
  #search: Search | undefined

  /** @param signal aborts the fetches */
  constructor(deps: OriginsDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /**
   * Returns the origin of the head.
   * @returns undefined when L1 does not return it in time
   * @throws Fault of L1 (fatal); the signal's reason
   */
  current({ hash }: BlockId, patienceMs: number): Promise<L1Block | undefined> {
    const find = (): L1Block | undefined => this.#known.find(({ ref }) => ref.hash === hash)
    return this.#await(find, { key: hash, fetch: (signal) => this.#deps.l1.block(hash, signal) }, patienceMs)
  }

  /**
   * Returns the L1 block after an origin, unless derivation has read another block at its number.
   * @param last number of the last L1 block that may be an origin
   * @returns undefined when it may not be an origin, or L1 does not return it in time
   * @throws Fault of L1 (fatal); the signal's reason
   */
  async next({ ref }: L1Block, last: number, patienceMs: number): Promise<L1Block | undefined> {
    const number = ref.number + 1
    if (number > last) return undefined
    const { trail } = this.#deps
    const find = (): L1Block | undefined => this.#known.findLast((block) => block.ref.number === number && !trail.contradicts(block.ref))
    return this.#await(find, { key: `after ${ref.hash}`, fetch: (signal) => this.#at(number, signal) }, patienceMs)
  }

  /** Fetches a block by the hash that derivation has read at its number, because that block is cached. */
  async #at(number: number, signal: AbortSignal): Promise<L1Block | undefined> {
    const { l1, trail } = this.#deps
    const hash: Hash | undefined = trail.hashAt(number) ?? (await l1.ref(number, signal))?.hash
    const block = hash && (await l1.block(hash, signal))
    return block && block.ref.number === number ? block : undefined
  }

  async #await(find: () => L1Block | undefined, wanted: Wanted, patienceMs: number): Promise<L1Block | undefined> {
    const found = find()
    if (found) return found
    const search = this.#searchFor(wanted)
    if (!search.isOver && patienceMs > 0) await this.#patient(search.done, patienceMs)
    if (search.fatal !== undefined) throw search.fatal
    return find()
  }

  /** Returns the pending search, or a search that failed a moment ago; else starts a new one. */
  #searchFor({ key, fetch }: Wanted): Search {
    const { clock } = this.#deps
    const last = this.#search
    const isFresh = last?.failedMs === undefined || clock.elapsedMs() - last.failedMs < againMs
    if (last?.key === key && (!last.isOver || (last.failedMs !== undefined && isFresh))) return last
    const search: Search = { key, isOver: false, failedMs: undefined, fatal: undefined, done: Promise.resolve() }
    const done = fetch(this.#signal).then(
      (block) => this.#end(search, block),
      (error: unknown) => {
        if (!isRetryable(error) && !this.#signal.aborted) search.fatal = error
        this.#end(search, undefined)
      },
    )
    this.#search = Object.assign(search, { done })
    return search
  }

  #end(search: Search, block: L1Block | undefined): void {
    search.isOver = true
    if (block === undefined) search.failedMs = this.#deps.clock.elapsedMs()
    else this.#known = [...this.#known.filter(({ ref }) => ref.hash !== block.ref.hash), block].slice(-3)
  }

  async #patient(done: Promise<void>, ms: number): Promise<void> {
    const control = new AbortController()
    const late = this.#deps.clock.delay(ms, control.signal).catch(() => {})
    try {
      await abortable(Promise.race([done, late]), this.#signal)
    } finally {
      control.abort()
    }
  }
}
