import type { ExecutedBlock } from '#block/execution/executedBlock'
import { engineFault } from '#engine/faults'
import type { Heads } from '#engine/port'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Labels } from './chainStore.ts'

/** Path from the committed chain to a known block: the youngest committed ancestor (or the block itself), then the blocks above it, oldest first. */
export type Branch = { readonly ancestor: BlockId; readonly blocks: readonly ExecutedBlock[] }

/** Blocks that a search for a branch reads. */
export type KnownBlocks = {
  /** blocks in memory, of any branch */
  executed(hash: Hash): ExecutedBlock | undefined
  /** committed and canonical blocks */
  committed(hash: Hash): BlockId | undefined
}

/** Parts of a view that the check of new heads reads. */
type ViewedBranches = { readonly known: KnownBlocks; branch(tip: Hash): Branch | undefined }

/**
 * Returns the branch that ends with a block; undefined when the block, or one of its ancestors above the committed chain, is not known.
 * @param trunk a known branch: the walk down ends where it meets the trunk
 */
export function branchTo(known: KnownBlocks, tip: Hash, trunk?: Branch): Branch | undefined {
  const blocks: ExecutedBlock[] = []
  let hash = tip
  for (;;) {
    const block = known.executed(hash)
    const index = trunk && block ? indexOn(trunk, block) : undefined
    if (trunk && index !== undefined) return branchOff(trunk, index, blocks.reverse())
    const ancestor = known.committed(hash)
    if (ancestor !== undefined) return { ancestor, blocks: blocks.reverse() }
    if (block === undefined) return undefined
    blocks.push(block)
    hash = block.header.parentHash
  }
}

/** Returns a trunk up to a block, and blocks above it; the trunk itself when it is all. */
function branchOff(trunk: Branch, index: number, above: readonly ExecutedBlock[]): Branch {
  if (above.length === 0 && index === trunk.blocks.length - 1) return trunk
  return { ancestor: trunk.ancestor, blocks: trunk.blocks.slice(0, index + 1).concat(above) }
}

function indexOn({ ancestor, blocks }: Branch, { header, hash }: ExecutedBlock): number | undefined {
  const index = header.number - ancestor.number - 1
  return blocks[index]?.hash === hash ? index : undefined
}

/**
 * Returns the branch to make canonical for new heads.
 * @param view knows the blocks
 * @param finalized current finalized head; the branch must contain it
 * @throws Fault INVALID_FORKCHOICE (reset)
 */
export function branchOfHeads(view: ViewedBranches, heads: Labels, finalized: BlockId): Branch {
  const refused = (label: keyof Labels, reason: string): Error =>
    engineFault('INVALID_FORKCHOICE', { label, hash: heads[label].hash, reason })
  const branch = view.branch(heads.unsafe.hash)
  if (branch === undefined) throw refused('unsafe', 'the block is not known')
  const refusal = headsRefusal(view.known, branch, heads)
  if (refusal) throw refused(refusal.label, refusal.reason)
  if (!isOnBranch(view.known, branch, finalized)) throw refused('unsafe', 'its branch does not contain the finalized head')
  return branch
}

/**
 * Returns heads whose finalized head is not below the current one. A client may name an older block, for example after a restart; this is no error, but
 * the label stays: rows of finalized blocks move to segment files and older states are removed, so no branch may begin below it again.
 * @param finalized current finalized head, on the branch of the heads
 */
export function keepFinalized(heads: Heads, finalized: Heads['finalized']): Heads {
  if (heads.finalized.number >= finalized.number) return heads
  return { ...heads, safe: heads.safe.number < finalized.number ? finalized : heads.safe, finalized }
}

/** Returns number and hash of the branch's last block. */
export function tipOf(branch: Branch): BlockId {
  const last = branch.blocks.at(-1)
  return last ? { number: last.header.number, hash: last.hash } : branch.ancestor
}

/** Returns whether a block is on the branch: one of its blocks, or committed at or below its ancestor. */
export function isOnBranch(known: KnownBlocks, branch: Branch, block: BlockId): boolean {
  if (block.number > branch.ancestor.number) {
    return branch.blocks[block.number - branch.ancestor.number - 1]?.hash === block.hash
  }
  return known.committed(block.hash)?.number === block.number
}

/**
 * Returns why heads are refused, or undefined. Each must be known, on the branch of the unsafe head, and not above the head before it.
 * @param branch of the unsafe head
 */
export function headsRefusal(
  known: KnownBlocks,
  branch: Branch,
  heads: Labels,
): { readonly label: keyof Labels; readonly reason: string } | undefined {
  const tip = tipOf(branch)
  if (tip.number !== heads.unsafe.number) return { label: 'unsafe', reason: `its number is ${tip.number}, not ${heads.unsafe.number}` }
  if (!isOnBranch(known, branch, heads.safe)) return { label: 'safe', reason: 'not an ancestor of the unsafe head' }
  if (!isOnBranch(known, branch, heads.finalized)) return { label: 'finalized', reason: 'not an ancestor of the unsafe head' }
  if (heads.finalized.number > heads.safe.number) return { label: 'finalized', reason: `above the safe head ${heads.safe.number}` }
  return undefined
}
