import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { EthContext } from '../../../context.ts'
import { filterNotFound, prunedHistory } from '../../../errors.ts'
import { type NotifiedBlock, type Trail, trimmedTrail } from '../../../filters/chainTrail.ts'
import { yieldTurn } from '../../turns.ts'
import { onSteadyChain } from '../atBlock.ts'

/** Changes of the canonical chain since a trail. */
export type Followed<T> = {
  /** items of blocks that left the canonical chain, newest block first */
  readonly removed: readonly T[]
  /** items of new blocks, oldest first */
  readonly added: readonly T[]
  readonly trail: Trail<T>
}

/** Collects the items of one block; `cost` counts against a slice. */
export type Collect<T> = (view: ChainView, block: BlockId) => { readonly items: readonly T[]; readonly cost: number }

/** Cost of the blocks read per turn of the event loop. */
const sliceCost = 1_024

const hashAt = (view: ChainView, number: number): string | undefined =>
  number > view.heads.latest.number ? undefined : view.canonicalHash(number)

/** Part of a trail that is still canonical. @throws RpcError −32602 when a reorg is deeper than the trail */
function stillCanonical<T>({ chain, filters }: EthContext, trail: Trail<T>): Trail<T> {
  using view = chain.view()
  let { last } = trail
  while (hashAt(view, last.number) !== last.hash) {
    const parent = last.number > trail.since ? filters.parents.of(last.hash) : undefined
    if (parent === undefined) throw filterNotFound()
    last = { number: last.number - 1, hash: parent }
  }
  if (last === trail.last) return trail
  return { ...trail, last, notified: trail.notified.filter(({ number }) => number <= last.number) }
}

type Slice<T> = { readonly last: BlockId; readonly found: readonly NotifiedBlock<T>[]; readonly isEnd: boolean }

/** Follows the chain for one turn of the event loop. @returns undefined when the last reported block is no longer canonical */
function followSlice<T>(context: EthContext, after: BlockId, maxItems: number, collect: Collect<T>): Slice<T> | undefined {
  using view = context.chain.view()
  if (hashAt(view, after.number) !== after.hash) return undefined
  const found: NotifiedBlock<T>[] = []
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
  let now = stillCanonical(context, trail)
  const removed = trail.notified
    .slice(now.notified.length)
    .reverse()
    .flatMap(({ items }) => items)
  const added: T[] = []
  for (;;) {
    const slice = followSlice(context, now.last, maxItems - added.length, collect)
    if (slice === undefined) return undefined
    for (const { items } of slice.found) for (const item of items) added.push(item)
    now = trimmedTrail({ ...now, last: slice.last, notified: slice.found.length === 0 ? now.notified : [...now.notified, ...slice.found] })
    if (slice.isEnd || added.length >= maxItems) return { removed, added, trail: now }
    await yieldTurn(context.cancellation)
  }
}

/**
 * Collects the changes of the canonical chain since a trail, in slices. Stops after the block with which `added` reaches `maxItems`; the next
 * call continues there.
 * @throws RpcError −32602 when a reorg is deeper than the trail
 */
export const followChain = <T>(context: EthContext, trail: Trail<T>, maxItems: number, collect: Collect<T>): Promise<Followed<T>> =>
  onSteadyChain(() => follow(context, trail, maxItems, collect))
