import { MissingState, type StateView } from '#evm/ports'
import { bigintFromBytes, emptyBytes, latin1 } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { NodeSource } from '#trie/ports'
import { createProof } from '#trie/proof'
import { createRangeProof } from '#trie/rangeProof'
import type { Account } from '#types/account'
import { type Address, emptyCodeHash, emptyRoot, type Hash } from '#types/ids'
import type { AccountProof, ProvedLeaves, WorldReads } from '#types/worldReads'
import type { WorldState } from './worldState.ts'

const keyOf = (hex: Address | Hash): Uint8Array => keccak256(fromHex(hex))

function withAddress(error: MissingState, address: Address, slot: Hash | undefined): MissingState {
  const { wanted } = error
  if (wanted.kind === 'account') return new MissingState({ ...wanted, address })
  return wanted.kind === 'slot' && slot !== undefined ? new MissingState({ ...wanted, address, slot }) : error
}

/** Runs a read of an account. A part that it lacks gets the address and the slot, without which other clients cannot prove it. */
function named<T>(address: Address, slot: Hash | undefined, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof MissingState)) throw error
    throw withAddress(error, address, slot)
  }
}

const accountAt = (view: StateView, address: Address): Account | undefined => named(address, undefined, () => view.account(keyOf(address)))

function slotValue(view: StateView, address: Address, slot: Hash): bigint {
  const bytes = named(address, slot, () => view.slot(keyOf(address), keyOf(slot)))
  return bytes ? bigintFromBytes(bytes) : 0n
}

/** Creates reads of a state by address and slot number. */
export function createValueReads(view: StateView): Omit<WorldReads, 'prove' | 'leaves'> {
  return {
    account: (address) => accountAt(view, address),
    code(address): Uint8Array {
      const codeHash = accountAt(view, address)?.codeHash ?? emptyCodeHash
      return codeHash === emptyCodeHash ? emptyBytes : view.code(codeHash)
    },
    slot: (address, slot) => slotValue(view, address, slot),
  }
}

/** Returns a source of the same nodes that reads each of them once: the proofs of an account's slots share the upper nodes. */
function readOnce(nodes: NodeSource): NodeSource {
  const known = new Map<string, Uint8Array>()
  return {
    get(owner, path, hash, key): Uint8Array | undefined {
      const name = latin1(hash)
      const node = known.get(name) ?? nodes.get(owner, path, hash, key)
      if (node) known.set(name, node)
      return node
    },
  }
}

/** Creates reads of a state, with proofs. @param stateRoot of the state */
export function createWorldReads({ view, nodes }: WorldState, stateRoot: Hash): WorldReads {
  return {
    ...createValueReads(view),
    prove(address, slots): AccountProof {
      const addressKey = keyOf(address)
      const account = accountAt(view, address)
      const root = account?.storageRoot ?? emptyRoot
      const ofAccount = readOnce(nodes)
      return {
        account,
        proof: createProof(nodes, undefined, stateRoot, addressKey),
        slots: slots.map((slot) => {
          const slotKey = keyOf(slot)
          return { value: slotValue(view, address, slot), proof: createProof(ofAccount, addressKey, root, slotKey) }
        }),
      }
    },
    leaves(owner, range, limits): ProvedLeaves {
      if (owner === undefined) return createRangeProof(nodes, undefined, stateRoot, range, limits)
      const addressKey = fromHex(owner)
      return createRangeProof(nodes, addressKey, view.account(addressKey)?.storageRoot ?? emptyRoot, range, limits)
    },
  }
}
