import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import { consensusFault } from './faults.ts'
import type { L2Source, UnsafeInbox } from './ports.ts'

export type AncestorDeps = { readonly source: Pick<L2Source, 'payloads'>; readonly inbox: Pick<UnsafeInbox, 'canonical'> }

export type Ancestor =
  | { readonly kind: 'found'; readonly block: BlockId }
  /** the source does not have this block of ours, which may not go */
  | { readonly kind: 'leaves-out'; readonly label: 'safe' | 'finalized'; readonly block: BlockId }

/** The numbers to compare, downwards: the distances double, the floor is the last. Pure. */
export function* walkBack(top: number, floor: number): Generator<number> {
  for (let distance = 0; top - distance > floor; distance = 2 * distance + 1) yield top - distance
  yield Math.max(floor, 0)
}

/**
 * The last block that the source and the execution half both have as canonical: exponential steps down, then halving. Never looks below what
 * must stay: the finalized head, and when L1 says what is safe, the safe head.
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
