import { bytesFromBigint, padLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256Of } from '#lib/keccak'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from '#types/ids'
import { slotAt } from './gameList.ts'

/** Slots of the AnchorStateRegistry: the anchor game; the respected type and the time of retirement, packed. */
export const registrySlots: readonly Hash[] = [slotAt(2n), slotAt(6n)]
const blacklistSlot = bytesFromBigint(5n, 32)

export type Registry = {
  /** zero: no game is the anchor yet */
  readonly anchorGame: Address
  /** games created at this time or before are invalid */
  readonly retirementSec: number
}

/** Decodes the values of `registrySlots`. Slot 6: respected type (u32, offset 0), retirement time (u64, offset 4). */
export function decodeRegistry([anchor = 0n, packed = 0n]: readonly bigint[]): Registry {
  return {
    anchorGame: addressFromBytes(bytesFromBigint(anchor & (2n ** 160n - 1n), 20)),
    retirementSec: Number((packed >> 32n) & (2n ** 64n - 1n)),
  }
}

/** Returns the slot that is 1 when a game is blacklisted: its address in the mapping at slot 5. */
export const blacklistSlotOf = (game: Address): Hash => hashFromBytes(keccak256Of(padLeft(fromHex(game), 32), blacklistSlot))
