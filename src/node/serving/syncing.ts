import type { FollowStatus } from '#consensus/follow'
import type { Progress } from '#consensus/status'
import type { SyncProgress } from '#rpc/ports'

/** L1 blocks behind the head of L1 that count as synced: the next block takes a part of each slot to read. */
const lagL1Blocks = 1

/**
 * Returns the progress for `eth_syncing` until derivation is at most one block behind the head of L1, also while that head is unknown. Pure.
 * @param starting number of the head when the node started
 * @returns undefined: not syncing
 */
export function syncProgressOf({ l1Block, l1Target, l2Block, l2Target = 0 }: Progress, starting: number): SyncProgress | undefined {
  if (l1Target !== undefined && l1Block !== undefined && l1Target - l1Block <= lagL1Blocks) return undefined
  const current = l2Block ?? starting
  return { starting, current, highest: Math.max(current, l2Target) }
}

/**
 * Returns the same for a node that follows another one, until it is at most a few blocks behind that node's head. Pure.
 * @param current number of the local head
 * @param lagBlocks largest distance that counts as synced
 */
export function followSyncOf(
  { source }: Pick<FollowStatus, 'source'>,
  current: number,
  starting: number,
  lagBlocks: number,
): SyncProgress | undefined {
  const { latest } = source
  if (latest !== undefined && latest.number - current <= lagBlocks) return undefined
  return { starting, current, highest: Math.max(current, latest?.number ?? 0) }
}
