import type { StateView } from '#evm/ports'
import { toHex } from '#lib/hex'
import { lookAt, type NodeSource } from '#trie/ports'
import { NodesByHash, type SharedNodes, TrieDiff } from '#trie/trieDiff'
import type { Account } from '#types/account'
import type { BlockId } from '#types/blockRef'
import { emptyCodeHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { createLayer, type Layer, type LayerParts, mergedLayer } from './stateLayer.ts'
import type { WorldState } from './worldState.ts'

/** Number of layers of one size that are merged into one. A read checks at most `fanOut` × log(steps) layers. */
const fanOut = 8

/**
 * Immutable changes of consecutive steps, oldest first: blocks, transactions, overrides. Layers of a long stack are merged by powers of `fanOut`;
 * stacks that continue the same stack share its layers. A read costs O(log steps); a push costs amortized O(changes × log steps).
 */
export type StateStack = readonly Layer[]

export function push(stack: StateStack, parts: LayerParts): StateStack {
  let layers: StateStack = [...stack, createLayer(parts)]
  for (;;) {
    const last = layers.slice(-fanOut)
    const isFull = last.length === fanOut && last.every(({ tier }) => tier === last[0]?.tier)
    if (!isFull) return layers
    layers = [...layers.slice(0, -fanOut), mergedLayer(last)]
  }
}

/** Removes the layers that lie wholly at or below a block, for a base state that includes them. The rest may begin below the block. */
export function trimStack(stack: StateStack, upTo: number): StateStack {
  const from = stack.findIndex(({ last }) => last > upTo)
  if (from === 0) return stack
  return from < 0 ? [] : stack.slice(from)
}

/** Root of a storage that may have slots, above a layer without a trie. Callers of such a state only compare it with the empty root. */
const someStorage: Hash = zeroHash

function isZero(value: Uint8Array): boolean {
  for (let i = value.length - 1; i >= 0; i--) if (value[i] !== 0) return false
  return true
}

/** The one view of changes in memory: layers above a view of another kind. */
class LayeredView implements StateView {
  readonly #base: StateView
  /** Youngest first. */
  readonly #layers: readonly Layer[]

  constructor(base: StateView, layers: readonly Layer[]) {
    this.#base = base
    this.#layers = layers
  }

  /** Returns a view with more layers. @param layers youngest first */
  under(layers: readonly Layer[]): LayeredView {
    return new LayeredView(this.#base, [...layers, ...this.#layers])
  }

  account(addressKey: Uint8Array): Account | undefined {
    let storageRoot: Hash | undefined
    let isRooted = true
    let name: string | undefined
    for (const { diff, trie } of this.#layers) {
      const change: AccountChange | null | undefined = diff.account(addressKey)
      if (change === null) return undefined
      if (trie === undefined) isRooted &&= storageRoot !== undefined
      else if (isRooted && storageRoot === undefined) {
        name ??= toHex(addressKey)
        storageRoot = trie.storageRoots.get(name)
      }
      if (change !== undefined) return this.#with(change, isRooted ? (storageRoot ?? emptyRoot) : undefined, addressKey)
    }
    const account = this.#base.account(addressKey)
    if (account === undefined || (isRooted && storageRoot === undefined)) return account
    return this.#with(account, storageRoot, addressKey)
  }

  /** @param storageRoot undefined: a layer without a trie is above the account's last change, so that the root is not known */
  #with({ nonce, balance, codeHash }: AccountChange, storageRoot: Hash | undefined, addressKey: Uint8Array): Account {
    if (storageRoot !== undefined) return { nonce, balance, codeHash, storageRoot }
    const mayHaveSlots = (nonce > 0n || codeHash !== emptyCodeHash) && !this.#layers.some(({ diff }) => diff.isWiped(addressKey))
    return { nonce, balance, codeHash, storageRoot: mayHaveSlots ? someStorage : this.#newestStorage(addressKey) }
  }

  /** Returns the storage root that the youngest layer with changes of the storage gives the account. */
  #newestStorage(addressKey: Uint8Array): Hash {
    const name = toHex(addressKey)
    for (const { diff, trie } of this.#layers) {
      const root = trie ? trie.storageRoots.get(name) : diff.setsSlots(addressKey) ? someStorage : undefined
      if (root !== undefined) return root
      if (diff.isWiped(addressKey)) return emptyRoot
    }
    return this.#base.account(addressKey)?.storageRoot ?? emptyRoot
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    for (const { diff } of this.#layers) {
      const value = diff.slot(addressKey, slotKey)
      if (value !== undefined) return isZero(value) ? undefined : value
      if (diff.isWiped(addressKey)) return undefined
    }
    return this.#base.slot(addressKey, slotKey)
  }

  code(codeHash: Hash): Uint8Array {
    for (const { diff } of this.#layers) {
      const code = diff.code(codeHash)
      if (code !== undefined) return code
    }
    return this.#base.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    for (const { hashes } of this.#layers) {
      const hash = hashes.get(number)
      if (hash !== undefined) return hash
    }
    return this.#base.blockHash(number)
  }
}

class LayeredNodes implements NodeSource {
  readonly base: NodeSource
  /** Nodes of each layer, youngest first. */
  readonly layers: readonly (() => NodesByHash)[]

  constructor(base: NodeSource, layers: LayeredNodes['layers']) {
    this.base = base
    this.layers = layers
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array | undefined {
    return this.#changed(hash) ?? this.base.get(owner, path, hash, key)
  }

  look<T>(
    owner: Uint8Array | undefined,
    path: Uint8Array,
    hash: Uint8Array,
    key: Uint8Array | undefined,
    use: (rlp: Uint8Array) => T,
  ): T | undefined {
    const changed = this.#changed(hash)
    return changed ? use(changed) : lookAt(this.base, owner, path, hash, key, use)
  }

  #changed(hash: Uint8Array): Uint8Array | undefined {
    for (const nodes of this.layers) {
      const node = nodes().get(hash)
      if (node !== undefined) return node
    }
    return undefined
  }
}

function nodesOf({ trie }: Layer): () => NodesByHash {
  if (trie) return trie.nodes
  return () => {
    throw new RangeError('the state has a layer without a trie')
  }
}

/** Returns the nodes of all layers above the lowest state, youngest first, for `nodesAbove` in another thread. */
export function sharedLayers(nodes: NodeSource): readonly SharedNodes[] {
  return nodes instanceof LayeredNodes ? [...nodes.layers.map((layer) => layer().shared), ...sharedLayers(nodes.base)] : []
}

/** Returns the nodes of a state and of layers above it. @param layers of `sharedLayers` */
export function nodesAbove(base: NodeSource, layers: readonly SharedNodes[]): NodeSource {
  const known = layers.map(
    ({ diffs, table }) =>
      new NodesByHash(
        diffs.map((buffer) => new TrieDiff(buffer)),
        table,
      ),
  )
  return new LayeredNodes(
    base,
    known.map((nodes) => () => nodes),
  )
}

/** Returns a state with the changes of a stack. @param below may itself have layers: they are read without another step */
export function viewAbove(below: StateView, stack: StateStack): StateView {
  if (stack.length === 0) return below
  const layers = stack.toReversed()
  return below instanceof LayeredView ? below.under(layers) : new LayeredView(below, layers)
}

/**
 * Returns the state after the steps of a stack. Its trie can be read only when all its layers have one.
 * @param below the state before the first step; for blocks it may also be the state after any of them
 */
export function stackedState(below: WorldState, stack: StateStack): WorldState {
  if (stack.length === 0) return below
  const { view, claimedView, nodes } = below
  return {
    view: viewAbove(view, stack),
    ...(claimedView && { claimedView: viewAbove(claimedView, stack) }),
    nodes: new LayeredNodes(nodes, stack.toReversed().map(nodesOf)),
  }
}

/**
 * Returns the state after one more block, in memory on top of another state. For many consecutive blocks use `push`.
 * @param result of `computeStateRoot` for the diff on the state below
 * @param block the block itself, for BLOCKHASH of its descendants
 */
export function overlay(below: WorldState, diff: StateDiff, result: LayerParts['result'], block?: BlockId): WorldState {
  return stackedState(below, [createLayer({ diff, ...(result && { result }), block })])
}
