import type { Block } from '#types/block'
import type { BlockInput } from './executedBlock.ts'

/** Returns the input of a known block, to execute it again. */
export function inputOfBlock(block: Block): BlockInput {
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
  }
}
