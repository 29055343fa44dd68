import { type ForkSchedule, isActive } from '#chainspec/forks'
import { payloadOfHeader } from '#engine/payloadHeader'
import type { Block } from '#types/block'
import { hashHeader } from '#types/header'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

/**
 * Returns why the payload's fields are not exactly those of its fork, or undefined.
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

/** Converts a block into a payload. @param hash hash of the header, if known */
export function payloadOfBlock({ header, transactions }: Block, hash: Hash = hashHeader(header)): Payload {
  return payloadOfHeader(header, hash, transactions)
}
