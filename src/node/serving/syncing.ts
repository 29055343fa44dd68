import type { FollowStatus } from '#consensus/follow'
import type { Progress } from '#consensus/status'
import type { SyncProgress } from '#rpc/ports'

/**
 * Returns the progress for `eth_syncing` until derivation has read all of L1, also while the L1 head is unknown. Pure.
 * @param starting number of the head when the node started
 * @returns undefined: not syncing
 */
export function syncProgressOf({ l1Block = -1, l1Target, l2Block, l2Target = 0 }: Progress, starting: number): SyncProgress | undefined {
  if (l1Target !== undefined && l1Block >= l1Target) return undefined
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
