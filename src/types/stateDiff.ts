import type { Hash } from './ids.ts'
import { encodeStateDiff, StateDiffTable } from './stateDiffTable.ts'

/** An account after the change; the storage root is the trie's business. */
export type AccountChange = { readonly nonce: bigint; readonly balance: bigint; readonly codeHash: Hash }

/**
 * What a block changes: one immutable `SharedArrayBuffer`, built once, read by every thread without decoding, shippable as bytes. Keys are
 * hashed: keccak(address), keccak(slot). An account that is `wiped` loses every slot it had before; slots in the diff come after the wipe.
 * An account that is gone is always wiped, and has no slots in the diff. Byte arrays that come out are copies.
 */
export interface StateDiff {
  readonly bytes: SharedArrayBuffer
  /** undefined: unchanged; null: the account is gone */
  account(addressKey: Uint8Array): AccountChange | null | undefined
  isWiped(addressKey: Uint8Array): boolean
  /** 32 bytes, zero included; undefined: unchanged (ask `isWiped` before asking the state below) */
  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined
  code(codeHash: Hash): Uint8Array | undefined
  /** Entries in ascending order of key. Slots are ordered by address key, then slot key. */
  accounts(): Iterable<{ readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }>
  slots(): Iterable<{ readonly addressKey: Uint8Array; readonly slotKey: Uint8Array; readonly value: Uint8Array }>
  codes(): Iterable<{ readonly hash: Hash; readonly code: Uint8Array }>
}

/** What `createStateDiff` is given, in any order; each key at most once. */
export type StateDiffParts = {
  readonly accounts: readonly { readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }[]
  readonly slots: readonly { readonly addressKey: Uint8Array; readonly slotKey: Uint8Array; readonly value: Uint8Array }[]
  readonly codes: readonly { readonly hash: Hash; readonly code: Uint8Array }[]
}

/** RangeError when a key stands twice, has a wrong length, a slot belongs to an account that is gone, or a number does not fit. */
export function createStateDiff(parts: StateDiffParts): StateDiff {
  const diff = new StateDiffTable(encodeStateDiff(parts))
  for (const { addressKey } of parts.slots) {
    if (diff.account(addressKey) === null) throw new RangeError('state diff: a slot of an account that is gone')
  }
  return diff
}

/**
 * A diff over bytes from anywhere; they are not copied. Reads of a diff that this function returned never fail. That each code has its hash
 * is not checked: who takes diffs from another machine does that.
 * @throws RangeError when the bytes are not a diff
 */
export function stateDiffFromBytes(bytes: SharedArrayBuffer): StateDiff {
  const diff = new StateDiffTable(bytes)
  diff.verify()
  return diff
}
