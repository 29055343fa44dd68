import { isActive } from '#chain/forks'
import type { RollupConfig } from '#chain/rollupConfig'
import type { L1Ref } from '#types/blockRef'

/** Bytes of a channel's decompressed RLP that count. @see specs protocol/fjord/derivation.md, "Increasing MAX_RLP_BYTES_PER_CHANNEL" */
export function maxRlpBytes({ schedule }: RollupConfig, l1: L1Ref): number {
  return isActive(schedule, 'fjord', l1.timestamp) ? 100_000_000 : 10_000_000
}

/** Bytes that all channels of the bank may hold. @see the same */
export function maxBankBytes({ schedule }: RollupConfig, l1: L1Ref): number {
  return isActive(schedule, 'fjord', l1.timestamp) ? 1_000_000_000 : 100_000_000
}

/** Whether a channel is too old to go on. @see specs protocol/derivation.md, "Timeouts"; granite/derivation.md */
export function isTimedOut(config: RollupConfig, openedAt: number, l1: L1Ref): boolean {
  const isGranite = isActive(config.schedule, 'granite', l1.timestamp)
  return openedAt + (isGranite ? config.channelTimeoutGraniteBlocks : config.channelTimeoutBlocks) < l1.number
}
