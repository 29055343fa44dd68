import { bytesFromBigint } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Of, keccak256Text } from '#lib/keccak'
import { type Hash, hashFromBytes } from '#types/ids'

const word = (value: number): Uint8Array => bytesFromBigint(BigInt(value), 32)
const sourceHash = (domain: number, id: Uint8Array): Hash => hashFromBytes(keccak256Of(word(domain), id))

/**
 * Returns the source hash of a user deposit. @param logIndex index among all logs of the L1 block's successful transactions. @see specs
 * protocol/deposits.md, "Source hash computation"
 */
export function userDepositSource(l1BlockHash: Hash, logIndex: number): Hash {
  return sourceHash(0, keccak256Of(fromHex(l1BlockHash), word(logIndex)))
}

export function l1AttributesSource(l1BlockHash: Hash, sequenceNumber: number): Hash {
  return sourceHash(1, keccak256Of(fromHex(l1BlockHash), word(sequenceNumber)))
}

/** Returns the source hash of an upgrade transaction. @param intent the upgrade's text, such as "Ecotone: L1 Block Deployment" */
export function upgradeSource(intent: string): Hash {
  return sourceHash(2, keccak256Text(intent))
}

/** Returns the source hash of the BaseTime deposit of an L2 block. Its domain counts L2 blocks, not L1 blocks. */
export function baseTimeSource(blockNumber: number): Hash {
  return sourceHash(3, keccak256Of(word(blockNumber)))
}
