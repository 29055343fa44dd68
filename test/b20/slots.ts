import { bytesOf, newWord, type Word, wordOf } from '#nativeContracts/kit/word'
import { tokenFields } from '#nativeContracts/token/fields'
import { type Address, type Hash, hashFromBytes } from '#types/ids'

/** Returns a slot's number as RPC methods and diffs name it. */
export const slotHash = (slot: Word): Hash => hashFromBytes(bytesOf(slot))

/** Returns the slot of a holder's balance in a token. */
export const balanceSlot = (holder: Address): Hash => slotHash(tokenFields.balances.slot(newWord(), wordOf(BigInt(holder))))
