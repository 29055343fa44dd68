import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import { consensusFault } from './faults.ts'
import type { L2Source, UnsafeInbox } from './ports.ts'

export type AncestorDeps = { readonly source: Pick<L2Source, 'payloads'>; readonly inbox: Pick<UnsafeInbox, 'canonical'> }

export type Ancestor =
  | { readonly kind: 'found'; readonly block: BlockId }
  /** the source lacks this block, which must stay canonical */
  | { readonly kind: 'leaves-out'; readonly label: 'safe' | 'finalized'; readonly block: BlockId }

/** Generates the numbers to compare, downwards: distances double, the floor is last. Pure. */
export function* walkBack(top: number, floor: number): Generator<number> {
  for (let distance = 0; top - distance > floor; distance = 2 * distance + 1) yield top - distance
  yield Math.max(floor, 0)
}

/**
 * Returns the last block that is canonical in the source and the execution half: exponential steps down, then binary search. It never searches below
 * the block that must stay: the finalized head, or the safe head when L1 decides what is safe.
 * @param top number of the lower of both heads
 * @throws Fault SOURCE_EMPTY (retry) when the source lacks a block below its head; those of both
 */
export async function findAncestor(
  { source, inbox }: AncestorDeps,
  heads: Heads,
  keep: 'safe' | 'finalized',
  top: number,
  signal: AbortSignal,
): Promise<Ancestor> {
  const floor = heads[keep]
  async function common(number: number): Promise<BlockId | undefined> {
    const [theirs] = await source.payloads(number, 1, signal)
    if (theirs === undefined) throw consensusFault('SOURCE_EMPTY', { number, head: top })
    const ours = await inbox.canonical(number, signal)
    return ours?.blockHash === theirs.blockHash ? { number, hash: ours.blockHash } : undefined
  }

  if (top < floor.number) return { kind: 'leaves-out', label: keep, block: floor }
  let differs = top + 1
  let found: BlockId | undefined
  for (const number of walkBack(top, floor.number)) {
    found = await common(number)
    if (found) break
    differs = number
  }
  if (found === undefined) return { kind: 'leaves-out', label: keep, block: floor }
  while (differs - found.number > 1) {
    const middle = (found.number + differs) >>> 1
    const block = await common(middle)
    if (block) found = block
    else differs = middle
  }
  return { kind: 'found', block: found }
}
