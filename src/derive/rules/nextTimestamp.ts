import { timestampOf } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L2Ref } from '#types/blockRef'

/** Returns the time of the block after the safe head, in seconds. @see specs protocol/derivation.md, "Batch Queue" */
export function nextTimestamp(config: RollupConfig, safe: L2Ref): number {
  return timestampOf(config, safe.number + 1)
}
