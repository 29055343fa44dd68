import type { BlockInput } from '#block/execution/executedBlock'
import { type ForkSchedule, isActive } from '#chainspec/forks'
import type { FlashblockBase } from '#types/flashblock'

/** Returns the block input that flashblock 0 sets. */
export function inputOfBase(schedule: ForkSchedule, base: FlashblockBase, transactions: readonly Uint8Array[]): BlockInput {
  const { timestamp, feeRecipient, prevRandao, gasLimit, extraData, parentBeaconBlockRoot } = base
  return {
    timestamp,
    beneficiary: feeRecipient,
    prevRandao,
    gasLimit,
    extraData,
    ...(isActive(schedule, 'ecotone', timestamp) && { parentBeaconBlockRoot }),
    transactions,
  }
}
