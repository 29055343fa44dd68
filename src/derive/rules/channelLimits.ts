import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref } from '#types/blockRef'

/** Maximum size of a channel's decompressed RLP, in bytes. @see specs protocol/fjord/derivation.md, "Increasing MAX_RLP_BYTES_PER_CHANNEL" */
export function maxRlpBytes({ schedule }: RollupConfig, l1: L1Ref): number {
  return isActive(schedule, 'fjord', l1.timestamp) ? 100_000_000 : 10_000_000
}

/** Maximum size of all channels in the bank, in bytes. @see the same section */
export function maxBankBytes({ schedule }: RollupConfig, l1: L1Ref): number {
  return isActive(schedule, 'fjord', l1.timestamp) ? 1_000_000_000 : 100_000_000
}

/** Returns whether a channel has timed out. @see specs protocol/derivation.md, "Timeouts"; granite/derivation.md */
export function isTimedOut(config: RollupConfig, openedAt: number, l1: L1Ref): boolean {
  const isGranite = isActive(config.schedule, 'granite', l1.timestamp)
  return openedAt + (isGranite ? config.channelTimeoutGraniteBlocks : config.channelTimeoutBlocks) < l1.number
}
