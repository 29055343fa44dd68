import type { StateView } from '#evm/ports'
import { latin1 } from '#lib/bytes'
import { toHex } from '#lib/hex'
import type { NodeSource } from '#trie/ports'
import type { Account } from '#types/account'
import type { BlockId } from '#types/blockRef'
import { emptyRoot, type Hash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'
import { type Layer, type LayerBlock, mergedLayer, singleLayer } from './stateLayer.ts'
import type { WorldState } from './worldState.ts'

/** Number of layers of one size that are merged into one. A read checks at most `fanOut` × log(blocks) layers. */
const fanOut = 8

/**
 * Immutable changes of consecutive blocks, oldest first. Layers of a long stack are merged by powers of `fanOut`; stacks that continue the same stack
 * share its layers. A read costs O(log blocks); a push costs amortized O(changes × log blocks).
 */
export type StateStack = { readonly layers: readonly Layer[] }

export const emptyStack: StateStack = { layers: [] }

export function pushBlock(stack: StateStack, block: LayerBlock): StateStack {
  let layers: readonly Layer[] = [...stack.layers, singleLayer(block)]
  for (;;) {
    const last = layers.slice(-fanOut)
    const isFull = last.length === fanOut && last.every(({ tier }) => tier === last[0]?.tier)
    if (!isFull) return { layers }
    layers = [...layers.slice(0, -fanOut), mergedLayer(last)]
  }
}

/** Returns the number of the lowest block in the stack; undefined for an empty stack. */
export const firstOf = (stack: StateStack): number | undefined => stack.layers[0]?.first

/** Removes the layers that lie wholly at or below a block, for a base state that includes them. The rest may begin below the block. */
export function trimStack(stack: StateStack, upTo: number): StateStack {
  const from = stack.layers.findIndex(({ first, hashes }) => first + hashes.length - 1 > upTo)
  if (from === 0) return stack
  return { layers: from < 0 ? [] : stack.layers.slice(from) }
}

const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

class StackView implements StateView {
  readonly #below: StateView
  /** Youngest first. */
  readonly #layers: readonly Layer[]

  constructor(below: StateView, layers: readonly Layer[]) {
    this.#below = below
    this.#layers = layers
  }

  account(addressKey: Uint8Array): Account | undefined {
    const name = toHex(addressKey)
    let storageRoot: Hash | undefined
    for (const layer of this.#layers) {
      const change: AccountChange | null | undefined = layer.account(addressKey, name)
      if (change === null) return undefined
      storageRoot ??= layer.storageRoot(name)
      if (change !== undefined) return { ...change, storageRoot: storageRoot ?? emptyRoot }
    }
    const account = this.#below.account(addressKey)
    return account && storageRoot ? { ...account, storageRoot } : account
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const [owner, name] = [latin1(addressKey), latin1(slotKey)]
    for (const layer of this.#layers) {
      const value = layer.slot(addressKey, slotKey, owner, name)
      if (value !== undefined) return isZero(value) ? undefined : value
      if (layer.isWiped(addressKey, owner)) return undefined
    }
    return this.#below.slot(addressKey, slotKey)
  }

  code(codeHash: Hash): Uint8Array {
    for (const layer of this.#layers) {
      const code = layer.code(codeHash)
      if (code !== undefined) return code
    }
    return this.#below.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    for (const { first, hashes } of this.#layers) {
      const hash = hashes[number - first]
      if (hash !== undefined) return hash
    }
    return this.#below.blockHash(number)
  }
}

class StackNodes implements NodeSource {
  readonly #below: NodeSource
  readonly #layers: readonly Layer[]

  constructor(below: NodeSource, layers: readonly Layer[]) {
    this.#below = below
    this.#layers = layers
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array | undefined {
    const [of, name] = [owner ? latin1(owner) : '', latin1(path)]
    for (const layer of this.#layers) {
      const node = layer.node(of, name)
      if (node !== undefined) return node ?? undefined
      if (owner && layer.isWiped(owner, of)) return undefined
    }
    return this.#below.get(owner, path, hash, key)
  }
}

/**
 * Returns the state after the blocks of a stack.
 * @param below the state after the block under the stack, or after any of its blocks
 */
export function stackedState(below: WorldState, stack: StateStack): WorldState {
  if (stack.layers.length === 0) return below
  const layers = stack.layers.toReversed()
  return { view: new StackView(below.view, layers), nodes: new StackNodes(below.nodes, layers) }
}

/**
 * Returns the state after one more block, in memory on top of another state. For many consecutive blocks use `pushBlock`.
 * @param result of `computeStateRoot` for the diff on the state below
 * @param block the block itself, for BLOCKHASH of its descendants
 */
export function overlay(below: WorldState, diff: StateDiff, result: LayerBlock['result'], block?: BlockId): WorldState {
  return stackedState(below, pushBlock(emptyStack, { diff, result, block }))
}
