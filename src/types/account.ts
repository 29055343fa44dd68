import type { Hash } from './ids.ts'

/** An account of the state: u64 nonce, balance in wei. */
export type Account = {
  readonly nonce: bigint
  readonly balance: bigint
  readonly codeHash: Hash
  /** Storage root in the view; stale while a block runs. The empty root means that the account has no slots, and none is read (EIP-7610). */
  readonly storageRoot: Hash
}

/** Largest nonce of an account. No transaction or creation may use it (EIP-2681). */
export const maxNonce = 2n ** 64n - 1n

/** A delegation is this prefix and the address of another account, whose code runs in its place (EIP-7702). */
export const delegationPrefix = Uint8Array.of(0xef, 0x01, 0x00)
const delegationBytes = 23

/** Returns the address in a delegation, 20 bytes; undefined: the code is no delegation. */
export function delegateIn(code: Uint8Array): Uint8Array | undefined {
  const isDelegation = code.length === delegationBytes && delegationPrefix.every((byte, i) => code[i] === byte)
  return isDelegation ? code.subarray(delegationPrefix.length) : undefined
}
