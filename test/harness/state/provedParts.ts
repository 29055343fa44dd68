import type { WantedState } from '#evm/ports'
import { emptyBytes } from '#lib/bytes'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type FetchedState, placeNodes } from '#state/fetchedState'
import type { WorldState } from '#state/worldState'
import { createProof } from '#trie/proof'
import { emptyRoot, type Hash } from '#types/ids'

/** Returns the lowest key of 32 bytes below a path. */
export function keyBelow(path: Uint8Array): Uint8Array {
  const key = new Uint8Array(32)
  for (const [at, nibble] of path.entries()) key[at >> 1] = (key[at >> 1] ?? 0) | (at & 1 ? nibble : nibble << 4)
  return key
}

/** Returns a wanted part of a whole state with its proofs, as an honest source does. */
export function provedPart({ view, nodes }: WorldState, stateRoot: Hash, wanted: WantedState): FetchedState {
  const bag = new Map<string, Uint8Array>()
  const add = (owner: Uint8Array | undefined, root: Hash, key: Uint8Array): void => {
    for (const rlp of createProof(nodes, owner, root, key)) bag.set(toHex(keccak256(rlp)), rlp)
  }
  const addSlot = (owner: Uint8Array, key: Uint8Array): void => {
    add(undefined, stateRoot, owner)
    add(owner, view.account(owner)?.storageRoot ?? emptyRoot, key)
  }
  if (wanted.kind === 'account') add(undefined, stateRoot, wanted.addressKey)
  if (wanted.kind === 'slot') addSlot(wanted.addressKey, wanted.slotKey)
  if (wanted.kind === 'node' && wanted.owner) addSlot(wanted.owner, keyBelow(wanted.path))
  if (wanted.kind === 'node' && !wanted.owner) add(undefined, stateRoot, keyBelow(wanted.path))
  const code = wanted.kind === 'code' ? view.code(wanted.codeHash) : emptyBytes
  return { nodes: placeNodes(bag, stateRoot), codes: code.length > 0 ? [code] : [] }
}
