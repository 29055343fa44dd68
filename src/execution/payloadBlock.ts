import { type ForkSchedule, isActive } from '#chain/forks'
import type { Block } from '#types/block'
import { hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/**
 * Why the payload has not exactly the fields of its fork, or undefined.
 * @see specs protocol/{canyon,ecotone,isthmus}/exec-engine.md; Engine API, payload structures
 */
export function payloadShapeRefusal(schedule: ForkSchedule, payload: Payload): string | undefined {
  const fields = [
    ['withdrawals', payload.withdrawals, 'canyon'],
    ['blobGasUsed', payload.blobGasUsed, 'ecotone'],
    ['excessBlobGas', payload.excessBlobGas, 'ecotone'],
    ['parentBeaconBlockRoot', payload.parentBeaconBlockRoot, 'ecotone'],
    ['withdrawalsRoot', payload.withdrawalsRoot, 'isthmus'],
  ] as const
  for (const [name, value, fork] of fields) {
    const isExpected = isActive(schedule, fork, payload.timestamp)
    if (isExpected && value === undefined) return `${name} is missing`
    if (!isExpected && value !== undefined) return `${name} is present before ${fork}`
  }
  return payload.withdrawals?.length ? 'withdrawals are not empty' : undefined
}

/** A block as a payload. `hash` is the header's. */
export function payloadOfBlock(schedule: ForkSchedule, block: Block, hash: Hash = hashHeader(block.header)): Payload {
  const { header, transactions } = block
  const { blobGasUsed, excessBlobGas, parentBeaconBlockRoot, withdrawalsRoot } = header
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
    ...(withdrawalsRoot !== undefined && isActive(schedule, 'isthmus', header.timestamp) && { withdrawalsRoot }),
    ...(parentBeaconBlockRoot !== undefined && { parentBeaconBlockRoot }),
  }
}
