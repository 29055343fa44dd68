import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { EthContext } from '../../context.ts'
import { filterNotFound, internalError, prunedHistory, timedOut } from '../../errors.ts'
import type { ChainView } from '../../ports.ts'

/** How far a filter or subscription was told of the chain. */
export type Trail<T> = {
  /** the last block that it was told of */
  readonly last: BlockId
  /** what it was told is remembered of the blocks above this number */
  readonly since: number
  /** the blocks of which it was told something, oldest first */
  readonly told: readonly ToldBlock<T>[]
}
type ToldBlock<T> = BlockId & { readonly items: readonly T[] }

/** Where a filter begins: at the blocks after this one. */
export const trailFrom = (head: BlockId): Trail<never> => ({ last: head, since: head.number, told: [] })

/** The parents of the blocks that filters were told of lately: of those that are not canonical any more nobody else knows them. */
export class ToldParents {
  readonly #parents = new Map<Hash, Hash>()

  note(block: Hash, parent: Hash): void {
    if (this.#parents.has(block)) return
    this.#parents.set(block, parent)
    if (this.#parents.size <= 4 * maxTrailBlocks) return
    for (const oldest of this.#parents.keys()) {
      this.#parents.delete(oldest)
      return
    }
  }

  of(block: Hash): Hash | undefined {
    return this.#parents.get(block)
  }
}

/** What has become of the chain since. */
export type Followed<T> = {
  /** of blocks that are not canonical any more, the newest block first */
  readonly removed: readonly T[]
  /** of new blocks, the oldest first */
  readonly added: readonly T[]
  readonly trail: Trail<T>
}

/** Collects what there is to tell of one block; `cost` counts against a slice. */
export type Collect<T> = (view: ChainView, block: BlockId) => { readonly items: readonly T[]; readonly cost: number }

/** How far back a reorg may begin: what was told is remembered for so many blocks, and for so many items. */
const maxTrailBlocks = 256
const maxTrailItems = 10_000
/** Cost of what is looked at between two turns of the event loop. */
const sliceCost = 1_024
const maxRestarts = 3

const hashAt = (view: ChainView, number: number): string | undefined =>
  number > view.heads.latest.number ? undefined : view.canonicalHash(number)

/** The part of a trail that still holds. RpcError −32602 when what was told is not remembered so far back. */
function stillCanonical<T>({ filters }: EthContext, view: ChainView, trail: Trail<T>): Trail<T> {
  let { last } = trail
  while (hashAt(view, last.number) !== last.hash) {
    const parent = last.number > trail.since ? filters.parents.of(last.hash) : undefined
    if (parent === undefined) throw filterNotFound()
    last = { number: last.number - 1, hash: parent }
  }
  if (last === trail.last) return trail
  return { ...trail, last, told: trail.told.filter(({ number }) => number <= last.number) }
}

function trimmed<T>({ last, since, told }: Trail<T>): Trail<T> {
  let oldest = Math.max(since, last.number - maxTrailBlocks)
  let from = 0
  let items = told.reduce((sum, block) => sum + block.items.length, 0)
  for (; from < told.length; from++) {
    const block = told[from]
    if (block === undefined || (block.number > oldest && (items <= maxTrailItems || from === told.length - 1))) break
    items -= block.items.length
    oldest = Math.max(oldest, block.number)
  }
  return { last, since: oldest, told: from === 0 ? told : told.slice(from) }
}

type Slice<T> = { readonly last: BlockId; readonly found: readonly ToldBlock<T>[]; readonly isEnd: boolean }

/** One turn's worth of blocks after the last one that was told. @returns undefined when that is not canonical any more */
function followSlice<T>(context: EthContext, after: BlockId, maxItems: number, collect: Collect<T>): Slice<T> | undefined {
  using view = context.chain.view()
  if (hashAt(view, after.number) !== after.hash) return undefined
  const found: ToldBlock<T>[] = []
  let last = after
  let [cost, items] = [0, 0]
  while (last.number < view.heads.latest.number) {
    if (cost >= sliceCost || items >= maxItems) return { last, found, isEnd: false }
    const number = last.number + 1
    const hash = view.canonicalHash(number)
    if (hash === undefined) throw prunedHistory()
    const collected = collect(view, { number, hash })
    if (collected.items.length > 0) found.push({ number, hash, items: collected.items })
    context.filters.parents.note(hash, last.hash)
    last = { number, hash }
    items += collected.items.length
    cost += 1 + collected.cost
  }
  return { last, found, isEnd: true }
}

async function follow<T>(context: EthContext, trail: Trail<T>, maxItems: number, collect: Collect<T>): Promise<Followed<T> | undefined> {
  let now = onView(context, (view) => stillCanonical(context, view, trail))
  const removed = trail.told
    .slice(now.told.length)
    .reverse()
    .flatMap(({ items }) => items)
  const added: T[] = []
  for (;;) {
    const slice = followSlice(context, now.last, maxItems - added.length, collect)
    if (slice === undefined) return undefined
    for (const { items } of slice.found) for (const item of items) added.push(item)
    now = trimmed({ ...now, last: slice.last, told: slice.found.length === 0 ? now.told : [...now.told, ...slice.found] })
    if (slice.isEnd || added.length >= maxItems) return { removed, added, trail: now }
    await nextTurn()
    if (context.cancellation.isCancelled) throw timedOut()
  }
}

function onView<T>(context: EthContext, read: (view: ChainView) => T): T {
  using view = context.chain.view()
  return read(view)
}

/**
 * What is new on the canonical chain since a trail was told, in slices. What is added ends with the block that makes it `maxItems` or more;
 * the rest comes the next time.
 * @throws RpcError −32602 when the chain changed further back than the trail goes
 */
export async function followChain<T>(context: EthContext, trail: Trail<T>, maxItems: number, collect: Collect<T>): Promise<Followed<T>> {
  for (let restart = 0; restart < maxRestarts; restart++) {
    const followed = await follow(context, trail, maxItems, collect)
    if (followed) return followed
  }
  throw internalError('the chain reorganised during the query')
}
