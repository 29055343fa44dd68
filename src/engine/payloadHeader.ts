import { type ForkSchedule, isActive } from '#chain/forks'
import { orderedRoot } from '#trie/orderedRoot'
import type { Header } from '#types/header'
import { emptyOmmersHash, emptyRequestsHash, emptyRoot } from '#types/ids'
import type { Payload } from '#types/payload'

/** Header fields that no block of ours differs in. */
export const constantFields: Pick<Header, 'ommersHash' | 'difficulty' | 'nonce'> = {
  ommersHash: emptyOmmersHash,
  difficulty: 0n,
  nonce: new Uint8Array(8),
}

/** The header that a payload of the right shape describes; its hash is not compared with the payload's. */
export function headerOfPayload(schedule: ForkSchedule, payload: Payload): Header {
  const { blobGasUsed, excessBlobGas, parentBeaconBlockRoot } = payload
  const withdrawalsRoot = payload.withdrawalsRoot ?? (isActive(schedule, 'canyon', payload.timestamp) ? emptyRoot : undefined)
  return {
    ...constantFields,
    parentHash: payload.parentHash,
    beneficiary: payload.feeRecipient,
    stateRoot: payload.stateRoot,
    transactionsRoot: orderedRoot(payload.transactions),
    receiptsRoot: payload.receiptsRoot,
    logsBloom: payload.logsBloom,
    number: payload.blockNumber,
    gasLimit: payload.gasLimit,
    gasUsed: payload.gasUsed,
    timestamp: payload.timestamp,
    extraData: payload.extraData,
    mixHash: payload.prevRandao,
    baseFeePerGas: payload.baseFeePerGas,
    ...(withdrawalsRoot !== undefined && { withdrawalsRoot }),
    ...(blobGasUsed !== undefined && { blobGasUsed }),
    ...(excessBlobGas !== undefined && { excessBlobGas }),
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
    ...(isActive(schedule, 'isthmus', payload.timestamp) && { requestsHash: emptyRequestsHash }),
  }
}
