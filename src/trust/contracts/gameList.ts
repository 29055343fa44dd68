import { bytesFromBigint } from '#lib/bytes'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from '#types/ids'

/** Returns a slot by its number. */
export const slotAt = (slot: bigint): Hash => hashFromBytes(bytesFromBigint(slot, 32))

/** Slot with the number of games: the length of `_disputeGameList`, slot 104 of the DisputeGameFactory. */
export const gameCountSlot: Hash = slotAt(104n)
/** Slot of the first element of that list: the keccak of 104 as a word. */
const firstGameSlot = 0xa2153420d844928b4421650203c77babc8b33d7f2e7b450e2966db0c22097753n

/** Returns the slot of a game in the list. */
export const gameSlot = (index: number): Hash => slotAt((firstGameSlot + BigInt(index)) % 2n ** 256n)

/** Entry of the factory's list of games. */
export type ListedGame = { readonly type: number; readonly createdSec: number; readonly address: Address }

const u64 = 2n ** 64n - 1n

/** Decodes an entry: type (32 bits) ‖ time of creation (64) ‖ address (160). @see GameId of the DisputeGameFactory */
export function decodeGameId(word: bigint): ListedGame {
  return {
    type: Number(word >> 224n),
    createdSec: Number((word >> 160n) & u64),
    address: addressFromBytes(bytesFromBigint(word & (2n ** 160n - 1n), 20)),
  }
}
