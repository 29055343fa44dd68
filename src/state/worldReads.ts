import type { StateView } from '#evm/ports'
import { bigintFromBytes, emptyBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createProof } from '#trie/proof'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { AccountProof, WorldReads } from '#types/worldReads'
import type { WorldState } from './worldState.ts'

const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))

function slotValue(view: StateView, addressKey: Uint8Array, slotKey: Uint8Array): bigint {
  const bytes = view.slot(addressKey, slotKey)
  return bytes ? bigintFromBytes(bytes) : 0n
}

/** Creates reads of a state by address and slot number. */
export function createValueReads(view: StateView): Omit<WorldReads, 'prove'> {
  return {
    account: (address) => view.account(keyOf(address)),
    code(address): Uint8Array {
      const codeHash = view.account(keyOf(address))?.codeHash ?? emptyCodeHash
      return codeHash === emptyCodeHash ? emptyBytes : view.code(codeHash)
    },
    slot: (address, slot) => slotValue(view, keyOf(address), keyOf(slot)),
  }
}

/** Creates reads of a state, with proofs. @param stateRoot of the state */
export function createWorldReads({ view, nodes }: WorldState, stateRoot: Hash): WorldReads {
  return {
    ...createValueReads(view),
    prove(address, slots): AccountProof {
      const addressKey = keyOf(address)
      const account = view.account(addressKey)
      const root = account?.storageRoot ?? emptyRoot
      return {
        account,
        proof: createProof(nodes, undefined, stateRoot, addressKey),
        slots: slots.map((slot) => {
          const slotKey = keyOf(slot)
          return { value: slotValue(view, addressKey, slotKey), proof: createProof(nodes, addressKey, root, slotKey) }
        }),
      }
    },
  }
}
