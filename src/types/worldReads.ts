import type { Account } from './account.ts'
import type { Address, Hash } from './ids.ts'

/** An account with the trie nodes from the root to its key, or to the end of the path of an absent key (EIP-1186). */
export type AccountProof = {
  /** undefined: the account does not exist, and the proof shows that. */
  readonly account: Account | undefined
  readonly proof: readonly Uint8Array[]
  /** In the order of the request; without nodes when the account has no storage. */
  readonly slots: readonly { readonly value: bigint; readonly proof: readonly Uint8Array[] }[]
}

/** Hashed keys of a range, both included. */
export type LeafRange = { readonly first: Uint8Array; readonly last: Uint8Array }
/** Bounds of one answer, each at least 1. */
export type LeafLimits = { readonly leaves: number; readonly bytes: number }

export type ProvedLeaves = {
  /** root of the trie */
  readonly root: Hash
  /** ascending by hashed key; the RLP of an account, or of the value of a slot */
  readonly leaves: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]
  readonly proof: readonly Uint8Array[]
  /** false: the limits ended it after the last leaf */
  readonly isWhole: boolean
}

/** Reads of the state after one block, by address and slot number. Synchronous. A method throws a Fault when the store cannot answer. */
export interface WorldReads {
  account(address: Address): Account | undefined
  /** Empty when the account has no code. */
  code(address: Address): Uint8Array
  /** Value of the slot with this 32-byte number; zero when the slot was never set. */
  slot(address: Address, slot: Hash): bigint
  prove(address: Address, slots: readonly Hash[]): AccountProof
  /**
   * Returns leaves of the account trie, or of the storage trie of an account, with the nodes that prove that none is missing.
   * @param owner keccak of the account; its storage is empty when it does not exist
   */
  leaves(owner: Hash | undefined, range: LeafRange, limits: LeafLimits): ProvedLeaves
}
