import { Buffer } from 'node:buffer'
import { latin1 } from '#lib/bytes'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import type { StateRoot, TrieDiff } from './stateRoot.ts'

/** Outcome of one block. `block` may be omitted when no caller needs BLOCKHASH. */
export type LayerBlock = {
  readonly diff: StateDiff
  readonly result: Pick<StateRoot, 'nodes' | 'storageRoots'>
  readonly block: BlockId | undefined
}

/**
 * Changes of one block or a run of blocks. Names are keys as strings, created once for all layers: accounts in hex; owners, slots and paths in
 * latin-1 (the account trie has owner ''). A lookup returns undefined when the layer does not change the entry.
 */
export interface Layer {
  /** Number of the first block. */
  readonly first: number
  /** Hashes of the blocks, in order; empty when no caller needs them. */
  readonly hashes: readonly Hash[]
  /** 0 for a single block; a merged layer has one more than its parts. */
  readonly tier: number
  account(key: Uint8Array, name: string): AccountChange | null | undefined
  storageRoot(name: string): Hash | undefined
  slot(addressKey: Uint8Array, slotKey: Uint8Array, owner: string, name: string): Uint8Array | undefined
  isWiped(addressKey: Uint8Array, owner: string): boolean
  code(hash: Hash): Uint8Array | undefined
  node(owner: string, path: string): Uint8Array | null | undefined
  /** Applies this layer's changes on top of a draft. */
  addTo(draft: Draft): void
}

type ByOwner<T> = Map<string, Map<string, T>>

/** A run of blocks as maps. */
type Draft = {
  readonly accounts: Map<string, AccountChange | null>
  readonly storageRoots: Map<string, Hash>
  readonly wiped: Set<string>
  readonly slots: ByOwner<Uint8Array>
  readonly codes: Map<Hash, Uint8Array>
  readonly nodes: ByOwner<Uint8Array | null>
}

const hexOf = (bytes: Uint8Array): string => `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`

function ofOwner<T>(map: ByOwner<T>, owner: string): Map<string, T> {
  const known = map.get(owner)
  if (known) return known
  const made = new Map<string, T>()
  map.set(owner, made)
  return made
}

function nodesByPlace(changed: TrieDiff): ByOwner<Uint8Array | null> {
  const nodes: ByOwner<Uint8Array | null> = new Map()
  for (const { owner, path, node } of changed) ofOwner(nodes, owner ? latin1(owner) : '').set(latin1(path), node)
  return nodes
}

function wipe(draft: Draft, owner: string): void {
  draft.wiped.add(owner)
  draft.slots.delete(owner)
  draft.nodes.delete(owner)
}

/** Sets an account and drops its storage root. `addTo` then sets the new root, unless the account is deleted. */
function setAccount(draft: Draft, name: string, change: AccountChange | null): void {
  draft.accounts.set(name, change)
  draft.storageRoots.delete(name)
}

class BlockLayer implements Layer {
  readonly #diff: StateDiff
  readonly #result: Pick<StateRoot, 'nodes' | 'storageRoots'>
  readonly first: number
  readonly hashes: readonly Hash[]
  readonly tier = 0
  #nodes: ByOwner<Uint8Array | null> | undefined

  constructor({ diff, result, block }: LayerBlock) {
    this.#diff = diff
    this.#result = result
    this.first = block?.number ?? 0
    this.hashes = block ? [block.hash] : []
  }

  account(key: Uint8Array): AccountChange | null | undefined {
    return this.#diff.account(key)
  }

  storageRoot(name: string): Hash | undefined {
    return this.#result.storageRoots.get(name)
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    return this.#diff.slot(addressKey, slotKey)
  }

  isWiped(addressKey: Uint8Array): boolean {
    return this.#diff.isWiped(addressKey)
  }

  code(hash: Hash): Uint8Array | undefined {
    return this.#diff.code(hash)
  }

  node(owner: string, path: string): Uint8Array | null | undefined {
    this.#nodes ??= nodesByPlace(this.#result.nodes)
    return this.#nodes.get(owner)?.get(path)
  }

  addTo(draft: Draft): void {
    for (const { key, change, wiped } of this.#diff.accounts()) {
      if (wiped) wipe(draft, latin1(key))
      setAccount(draft, hexOf(key), change)
    }
    for (const [name, root] of this.#result.storageRoots) draft.storageRoots.set(name, root)
    for (const { addressKey, slotKey, value } of this.#diff.slots()) ofOwner(draft.slots, latin1(addressKey)).set(latin1(slotKey), value)
    for (const { hash, code } of this.#diff.codes()) draft.codes.set(hash, code)
    for (const { owner, path, node } of this.#result.nodes) ofOwner(draft.nodes, owner ? latin1(owner) : '').set(latin1(path), node)
  }
}

class RunLayer implements Layer {
  readonly #maps: Draft
  readonly first: number
  readonly hashes: readonly Hash[]
  readonly tier: number

  constructor(maps: Draft, first: number, hashes: readonly Hash[], tier: number) {
    this.#maps = maps
    this.first = first
    this.hashes = hashes
    this.tier = tier
  }

  account(_key: Uint8Array, name: string): AccountChange | null | undefined {
    return this.#maps.accounts.get(name)
  }

  storageRoot(name: string): Hash | undefined {
    return this.#maps.storageRoots.get(name)
  }

  slot(_addressKey: Uint8Array, _slotKey: Uint8Array, owner: string, name: string): Uint8Array | undefined {
    return this.#maps.slots.get(owner)?.get(name)?.slice()
  }

  isWiped(_addressKey: Uint8Array, owner: string): boolean {
    return this.#maps.wiped.has(owner)
  }

  code(hash: Hash): Uint8Array | undefined {
    return this.#maps.codes.get(hash)
  }

  node(owner: string, path: string): Uint8Array | null | undefined {
    return this.#maps.nodes.get(owner)?.get(path)
  }

  addTo(draft: Draft): void {
    const { accounts, storageRoots, wiped, slots, codes, nodes } = this.#maps
    for (const owner of wiped) wipe(draft, owner)
    for (const [name, change] of accounts) setAccount(draft, name, change)
    for (const [name, root] of storageRoots) draft.storageRoots.set(name, root)
    for (const [owner, own] of slots) for (const [name, value] of own) ofOwner(draft.slots, owner).set(name, value)
    for (const [hash, code] of codes) draft.codes.set(hash, code)
    for (const [owner, own] of nodes) for (const [path, node] of own) ofOwner(draft.nodes, owner).set(path, node)
  }
}

export function singleLayer(block: LayerBlock): Layer {
  return new BlockLayer(block)
}

/** Merges layers into one. @param layers oldest first, at least one, without gaps */
export function mergedLayer(layers: readonly Layer[]): Layer {
  const draft: Draft = {
    accounts: new Map(),
    storageRoots: new Map(),
    wiped: new Set(),
    slots: new Map(),
    codes: new Map(),
    nodes: new Map(),
  }
  for (const layer of layers) layer.addTo(draft)
  const hashes = layers.flatMap((layer) => layer.hashes)
  return new RunLayer(draft, layers[0]?.first ?? 0, hashes, (layers[0]?.tier ?? 0) + 1)
}
