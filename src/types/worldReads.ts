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

/** Reads of the state after one block, by address and slot number. Synchronous. A method throws a Fault when the store cannot answer. */
export interface WorldReads {
  account(address: Address): Account | undefined
  /** Empty when the account has no code. */
  code(address: Address): Uint8Array
  /** Value of the slot with this 32-byte number; zero when the slot was never set. */
  slot(address: Address, slot: Hash): bigint
  prove(address: Address, slots: readonly Hash[]): AccountProof
}
