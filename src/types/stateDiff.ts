import type { Hash } from './ids.ts'

/** An account after the change. The storage root is not part of it; the trie computes it. */
export type AccountChange = { readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Hash }

/**
 * The state changes of a block in one immutable `SharedArrayBuffer`: built once, read by every thread without decoding, transferable as bytes.
 * Keys are hashed: keccak(address), keccak(slot). A `wiped` account loses every earlier slot; slots in the diff are written after the wipe.
 * A deleted account is always wiped and has no slots in the diff. Returned byte arrays are copies.
 */
export interface StateDiff {
  readonly bytes: SharedArrayBuffer
  /** undefined: unchanged; null: deleted. */
  account(addressKey: Uint8Array): AccountChange | null | undefined
  isWiped(addressKey: Uint8Array): boolean
  /** Whether the diff wipes any account. */
  readonly hasWipes: boolean
  /** Whether the diff sets a slot of the account to a value other than zero. O(log slots + slots of the account). */
  setsSlots(addressKey: Uint8Array): boolean
  /** 32 bytes, also for zero. undefined: unchanged; check `isWiped` before reading the state below. */
  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined
  code(codeHash: Hash): Uint8Array | undefined
  /** Lists entries in ascending order of key. Slots are ordered by address key, then slot key. */
  accounts(): Iterable<{ readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }>
  slots(): Iterable<{ readonly addressKey: Uint8Array; readonly slotKey: Uint8Array; readonly value: Uint8Array }>
  codes(): Iterable<{ readonly hash: Hash; readonly code: Uint8Array }>
}

/** Input of `createStateDiff` (`stateDiffTable.ts`), in any order; each key at most once. */
export type StateDiffParts = {
  readonly accounts: readonly { readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }[]
  /** `before`: the value before the diff, if known. State roots then read no leaf for it; they verify it. */
  readonly slots: readonly {
    readonly addressKey: Uint8Array
    readonly slotKey: Uint8Array
    readonly value: Uint8Array
    readonly before?: Uint8Array
  }[]
  readonly codes: readonly { readonly hash: Hash; readonly code: Uint8Array }[]
}
