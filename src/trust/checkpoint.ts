import type { Hash } from '#types/ids'
import { rootsPerGame } from './contracts/game.ts'

/** Most headers between a block and the next one with a root on L1: one a minute at 200 ms blocks. */
const maxLinks = 299

/** A block whose output root a proposal has. */
export type Checkpoint = { readonly block: number; readonly root: Hash }

export type ProposedRange = {
  /** block after which the proposal begins */
  readonly startBlock: bigint
  readonly block: bigint
  readonly roots: readonly Hash[]
}

/**
 * Returns the first block at or after a block whose output root a proposal has; undefined: the proposal is of other blocks, or its roots are too far
 * apart. Pure. The roots are at equal distances, which depend on the block time: 30 blocks before Denim, 300 from then on.
 */
export function checkpointAt({ startBlock, block, roots }: ProposedRange, number: number): Checkpoint | undefined {
  const wanted = BigInt(number)
  if (wanted <= startBlock || wanted > block) return undefined
  const distance = (block - startBlock) / BigInt(rootsPerGame)
  if (distance === 0n || distance > BigInt(maxLinks + 1) || distance * BigInt(rootsPerGame) !== block - startBlock) return undefined
  const index = (wanted - startBlock - 1n) / distance
  const root = roots[Number(index)]
  return root && { block: Number(startBlock + (index + 1n) * distance), root }
}
