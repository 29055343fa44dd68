import type { ForkSchedule } from '#chainspec/forks'
import type { Block } from '#types/block'
import type { BlockInput } from './executedBlock.ts'

/** What a known block decided for itself, to run it once more. */
export function inputOfBlock(schedule: ForkSchedule, block: Block): BlockInput {
  const { header, transactions } = block
  const { parentBeaconBlockRoot } = header
  return {
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.mixHash,
    gasLimit: header.gasLimit,
    extraData: header.extraData,
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    transactions,
    ...(schedule.ethereum && { ethereum: block }),
  }
}
