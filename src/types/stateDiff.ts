import type { Hash } from './ids.ts'
import { encodeStateDiff, StateDiffTable } from './stateDiffTable.ts'

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
  /** 32 bytes, also for zero. undefined: unchanged; check `isWiped` before reading the state below. */
  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined
  code(codeHash: Hash): Uint8Array | undefined
  /** Lists entries in ascending order of key. Slots are ordered by address key, then slot key. */
  accounts(): Iterable<{ readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }>
  slots(): Iterable<{ readonly addressKey: Uint8Array; readonly slotKey: Uint8Array; readonly value: Uint8Array }>
  codes(): Iterable<{ readonly hash: Hash; readonly code: Uint8Array }>
}

/** Input of `createStateDiff`, in any order; each key at most once. */
export type StateDiffParts = {
  readonly accounts: readonly { readonly key: Uint8Array; readonly change: AccountChange | null; readonly wiped: boolean }[]
  readonly slots: readonly { readonly addressKey: Uint8Array; readonly slotKey: Uint8Array; readonly value: Uint8Array }[]
  readonly codes: readonly { readonly hash: Hash; readonly code: Uint8Array }[]
}

/** Builds a diff. Throws RangeError on a duplicate key, a wrong length, a slot of a deleted account, or a number that does not fit. */
export function createStateDiff(parts: StateDiffParts): StateDiff {
  const diff = new StateDiffTable(encodeStateDiff(parts))
  for (const { addressKey } of parts.slots) {
    if (diff.account(addressKey) === null) throw new RangeError('state diff: slot of a deleted account')
  }
  return diff
}

/**
 * Opens a diff over untrusted bytes without copying them. Reads of the returned diff never fail. Code hashes are not verified: a caller that
 * receives diffs from another machine must verify them.
 * @throws RangeError when the bytes are not a diff
 */
export function stateDiffFromBytes(bytes: SharedArrayBuffer): StateDiff {
  const diff = new StateDiffTable(bytes)
  diff.verify()
  return diff
}
