import type { Progress } from '#consensus/status'
import type { SyncProgress } from '#rpc/ports'

/**
 * What `eth_syncing` tells: progress until derivation has read all of L1, also while nothing is known of L1 yet. Pure.
 * @param starting number of the head when the node started
 * @returns undefined: not syncing
 */
export function syncProgressOf({ l1Block = -1, l1Target, l2Block, l2Target = 0 }: Progress, starting: number): SyncProgress | undefined {
  if (l1Target !== undefined && l1Block >= l1Target) return undefined
  const current = l2Block ?? starting
  return { starting, current, highest: Math.max(current, l2Target) }
}
