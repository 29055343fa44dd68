import { bigintFromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createProof } from '#trie/proof'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { AccountProof, WorldReads } from '#types/worldReads'
import type { WorldState } from './worldState.ts'

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
