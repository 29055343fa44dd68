import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlockId } from '#types/blockRef'
import type { EthContext } from '../../context.ts'
import { filterNotFound, internalError, prunedHistory, timedOut } from '../../errors.ts'
import type { ChainView } from '../../ports.ts'

/** The last blocks that somebody was told of, oldest first, with what he was told of them. */
export type Trail<T> = readonly (BlockId & { readonly items: readonly T[] })[]

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

/** Splits what was told into what still holds and what does not. */
function stillCanonical<T>(view: ChainView, trail: Trail<T>): { readonly kept: Trail<T>; readonly gone: Trail<T> } {
  let end = trail.length
  while (end > 0) {
    const last = trail[end - 1]
    if (last === undefined || hashAt(view, last.number) === last.hash) break
    end--
  }
  return { kept: trail.slice(0, end), gone: trail.slice(end) }
}

function trimmed<T>(trail: Trail<T>): Trail<T> {
  let from = Math.max(0, trail.length - maxTrailBlocks)
  let items = trail.slice(from).reduce((sum, block) => sum + block.items.length, 0)
  while (items > maxTrailItems && from < trail.length - 1) items -= trail[from++]?.items.length ?? 0
  return trail.slice(from)
}

/** One turn's worth of new blocks on the trail. @returns undefined when the last of the trail is not canonical any more */
function followSlice<T>(
  context: EthContext,
  trail: Trail<T>,
  maxItems: number,
  collect: Collect<T>,
): { readonly found: Trail<T>; readonly isEnd: boolean } | undefined {
  using view = context.chain.view()
  const last = trail.at(-1)
  if (last === undefined || hashAt(view, last.number) !== last.hash) return undefined
  const found: Trail<T>[number][] = []
  let [cost, items] = [0, 0]
  for (let number = last.number + 1; number <= view.heads.latest.number; number++) {
    if (cost >= sliceCost || items >= maxItems) return { found, isEnd: false }
    const hash = view.canonicalHash(number)
    if (hash === undefined) throw prunedHistory()
    const collected = collect(view, { number, hash })
    found.push({ number, hash, items: collected.items })
    items += collected.items.length
    cost += 1 + collected.cost
  }
  return { found, isEnd: true }
}

async function follow<T>(context: EthContext, trail: Trail<T>, maxItems: number, collect: Collect<T>): Promise<Followed<T> | undefined> {
  const { kept, gone } = onView(context, (view) => stillCanonical(view, trail))
  if (kept.length === 0) throw filterNotFound() // what it has told is not remembered so far back
  const removed = gone.toReversed().flatMap(({ items }) => items)
  const added: T[] = []
  let told = kept
  for (;;) {
    const slice = followSlice(context, told, maxItems - added.length, collect)
    if (slice === undefined) return undefined
    for (const { items } of slice.found) for (const item of items) added.push(item)
    told = trimmed([...told, ...slice.found])
    if (slice.isEnd || added.length >= maxItems) return { removed, added, trail: told }
    await nextTurn()
    if (context.ticket.isCancelled) throw timedOut()
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
