import type { Progress } from '#consensus/status'
import type { SyncProgress } from '#rpc/ports'

/**
 * What `eth_syncing` tells: progress while derivation has not read all of L1 that is known. Pure.
 * @param starting number of the head when the node started
 * @returns undefined: not syncing, or nothing known yet
 */
export function syncProgressOf({ l1Block = 0, l1Target = 0, l2Block, l2Target }: Progress, starting: number): SyncProgress | undefined {
  if (l2Block === undefined || l2Target === undefined || l1Block >= l1Target) return undefined
  return { starting, current: l2Block, highest: Math.max(l2Block, l2Target) }
}
