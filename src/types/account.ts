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
