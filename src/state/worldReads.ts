import type { Account } from '#evm/ports'
import { bigintFromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createProof } from '#trie/proof'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { WorldState } from './worldState.ts'

/** An account with the trie nodes from the root to its key, or to the end of the path of an absent key (EIP-1186). */
export type AccountProof = {
  readonly account: Account | undefined
  readonly proof: readonly Uint8Array[]
  /** In the order of the request; without nodes when the account has no storage. */
  readonly slots: readonly { readonly value: bigint; readonly proof: readonly Uint8Array[] }[]
}

/** Reads of the state after one block, by address and slot number. */
export type WorldReads = {
  account(address: Address): Account | undefined
  /** Empty when the account has no code. */
  code(address: Address): Uint8Array
  slot(address: Address, slot: Hash): bigint
  prove(address: Address, slots: readonly Hash[]): AccountProof
}

/** Creates reads of a state. @param stateRoot of the state */
export function createWorldReads({ view, nodes }: WorldState, stateRoot: Hash): WorldReads {
  const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))
  const value = (addressKey: Uint8Array, slotKey: Uint8Array): bigint => {
    const bytes = view.slot(addressKey, slotKey)
    return bytes ? bigintFromBytes(bytes) : 0n
  }
  return {
    account: (address) => view.account(keyOf(address)),
    code(address): Uint8Array {
      const codeHash = view.account(keyOf(address))?.codeHash ?? emptyCodeHash
      return codeHash === emptyCodeHash ? new Uint8Array(0) : view.code(codeHash)
    },
    slot: (address, slot) => value(keyOf(address), keyOf(slot)),
    prove(address, slots): AccountProof {
      const addressKey = keyOf(address)
      const account = view.account(addressKey)
      const root = account?.storageRoot ?? emptyRoot
      return {
        account,
        proof: createProof(nodes, undefined, stateRoot, addressKey),
        slots: slots.map((slot) => {
          const slotKey = keyOf(slot)
          return { value: value(addressKey, slotKey), proof: createProof(nodes, addressKey, root, slotKey) }
        }),
      }
    },
  }
}
