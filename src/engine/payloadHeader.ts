import { type ForkSchedule, isActive } from '#chainspec/forks'
import { orderedRoot } from '#trie/orderedRoot'
import type { Header } from '#types/header'
import { emptyOmmersHash, emptyRequestsHash, emptyRoot, type Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/** Header fields that are equal in all blocks of an OP-Stack chain. */
export const constantFields: Pick<Header, 'ommersHash' | 'difficulty' | 'nonce'> = {
  ommersHash: emptyOmmersHash,
  difficulty: 0n,
  nonce: new Uint8Array(8),
}

/** Returns the header of a payload of the right shape; its hash is not compared with the payload's. */
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

/** Returns the payload of a block with this header. The caller has verified its hash and its transactions root. */
export function payloadOfHeader(header: Header, hash: Hash, transactions: readonly Uint8Array[]): Payload {
  const { blobGasUsed, excessBlobGas, parentBeaconBlockRoot, withdrawalsRoot, requestsHash } = header
  return {
    parentHash: header.parentHash,
    feeRecipient: header.beneficiary,
    stateRoot: header.stateRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: header.logsBloom,
    prevRandao: header.mixHash,
    blockNumber: header.number,
    gasLimit: header.gasLimit,
    gasUsed: header.gasUsed,
    timestamp: header.timestamp,
    extraData: header.extraData,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    blockHash: hash,
    transactions,
    ...(withdrawalsRoot !== undefined && { withdrawals: [] as const }),
    ...(blobGasUsed !== undefined && { blobGasUsed }),
    ...(excessBlobGas !== undefined && { excessBlobGas }),
    // from Isthmus on the withdrawals root has a meaning, and the header has a requests hash
    ...(withdrawalsRoot !== undefined && requestsHash !== undefined && { withdrawalsRoot }),
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
  }
}
