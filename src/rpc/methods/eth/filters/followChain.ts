import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { EthContext } from '../../../context.ts'
import { filterNotFound, prunedHistory } from '../../../errors.ts'
import type { Trail } from '../../../filters/chainTrail.ts'
import { yieldTurn } from '../../turns.ts'
import { onSteadyChain } from '../atBlock.ts'
import { sliceCost } from '../readCosts.ts'

/** Changes of the canonical chain since a trail. */
export type Followed<T> = {
  /** items of blocks that left the canonical chain, newest block first */
  readonly removed: readonly T[]
  /** items of new blocks, oldest first */
  readonly added: readonly T[]
  readonly trail: Trail
  /** false: the maximum number or size of items was reached, and the chain has further blocks */
  readonly isEnd: boolean
}

/** Items of blocks, as one filter or subscription reports them. */
export type Collect<T> = {
  /** Items of a canonical block whose parent is noted; `cost` counts against a slice. */
  added(view: ChainView, block: BlockId): { readonly items: readonly T[]; readonly cost: number }
  /** Items of a block that was added and left the canonical chain; undefined when they are forgotten. */
  removed(block: BlockId): readonly T[] | undefined
  /** Approximate size of an item as JSON. */
  sizeOf(item: T): number
}

/** Size of the items of one call, as JSON. A call that exceeds it ends with the current block; an answer may be several times as large. */
const maxBytes = 16_000_000

/** Items and bytes that a call may still return. */
type Room = { readonly items: number; readonly bytes: number }

const hashAt = (view: ChainView, number: number): string | undefined =>
  number > view.heads.latest.number ? undefined : view.canonicalHash(number)

/** Blocks below the head that are noted when a filter or subscription starts. A reorg below its start, that far, does not end it. */
const notedAtStart = 64

/** Returns the trail of a filter or subscription that starts after the head. */
export function trailFromHead({ filters: { parents } }: EthContext, view: ChainView): Trail {
  const { latest } = view.heads
  let { hash } = latest
  for (let noted = 0; noted < notedAtStart && !parents.has(hash); noted++) {
    const header = view.header(hash)
    if (header === undefined) break
    parents.note(hash, header.parentHash, header.timestamp)
    hash = header.parentHash
  }
  return { last: latest, since: latest.number }
}

/** Last block below which the chain is still the reported one, and the reported blocks above it, newest first. */
type Branch = { readonly last: BlockId; readonly left: readonly BlockId[] }

/** @throws RpcError −32602 when a reorg is deeper than the remembered blocks */
function stillCanonical({ chain, filters }: EthContext, { last: reported, since }: Trail): Branch {
  using view = chain.view()
  const left: BlockId[] = []
  let last = reported
  while (hashAt(view, last.number) !== last.hash) {
    const parent = filters.parents.of(last.hash)
    if (parent === undefined) throw filterNotFound()
    if (last.number > since) left.push(last)
    last = { number: last.number - 1, hash: parent }
  }
  return { last, left }
}

type Slice<T> = { readonly last: BlockId; readonly found: readonly T[]; readonly foundBytes: number; readonly isEnd: boolean }

function noteParent({ filters: { parents } }: EthContext, view: ChainView, hash: Hash, parent: Hash): void {
  if (parents.has(hash)) return
  const header = view.header(hash)
  if (header === undefined) throw prunedHistory()
  parents.note(hash, parent, header.timestamp)
}

/** Follows the chain for one turn of the event loop. @returns undefined when the last reported block is no longer canonical */
function followSlice<T>(context: EthContext, after: BlockId, room: Room, collect: Collect<T>): Slice<T> | undefined {
  using view = context.chain.view()
  if (hashAt(view, after.number) !== after.hash) return undefined
  const found: T[] = []
  let last = after
  let cost = 0
  let foundBytes = 0
  while (last.number < view.heads.latest.number) {
    if (cost >= sliceCost || found.length >= room.items || foundBytes >= room.bytes) return { last, found, foundBytes, isEnd: false }
    const number = last.number + 1
    const hash = view.canonicalHash(number)
    if (hash === undefined) throw prunedHistory()
    noteParent(context, view, hash, last.hash)
    const collected = collect.added(view, { number, hash })
    for (const item of collected.items) {
      found.push(item)
      foundBytes += collect.sizeOf(item)
    }
    last = { number, hash }
    cost += 1 + collected.cost
  }
  return { last, found, foundBytes, isEnd: true }
}

async function follow<T>(context: EthContext, trail: Trail, maxItems: number, collect: Collect<T>): Promise<Followed<T> | undefined> {
  const branch = stillCanonical(context, trail)
  const since = Math.min(trail.since, branch.last.number)
  const removed = branch.left.flatMap((block) => {
    const items = collect.removed(block)
    if (items === undefined) throw filterNotFound()
    return items
  })
  const added: T[] = []
  let bytes = Math.min(maxBytes, context.limits.logBytes)
  for (const item of removed) bytes -= collect.sizeOf(item)
  for (let { last } = branch; ; ) {
    const slice = followSlice(context, last, { items: maxItems - added.length, bytes }, collect)
    if (slice === undefined) return undefined
    for (const item of slice.found) added.push(item)
    last = slice.last
    bytes -= slice.foundBytes
    if (slice.isEnd || added.length >= maxItems || bytes <= 0) return { removed, added, trail: { last, since }, isEnd: slice.isEnd }
    await yieldTurn(context.cancellation)
  }
}

/**
 * Collects the changes of the canonical chain since a trail, in slices. Stops after the block with which `added` reaches `maxItems`, or all items
 * 16 MB; the next call continues there.
 * @throws RpcError −32602 when a reorg is deeper than the remembered blocks
 */
export const followChain = <T>(context: EthContext, trail: Trail, maxItems: number, collect: Collect<T>): Promise<Followed<T>> =>
  onSteadyChain(() => follow(context, trail, maxItems, collect))
