import { Buffer } from 'node:buffer'
import type { Account, StateView } from '#evm/ports'
import { toHex } from '#lib/hex'
import type { NodeSource } from '#trie/ports'
import type { BlockId } from '#types/blockRef'
import { emptyRoot, type Hash } from '#types/ids'
import type { StateDiff } from '#types/stateDiff'
import type { StateRoot, TrieDiff } from './stateRoot.ts'

/** The state after one block: its values, and the trie nodes under its root. */
export type WorldState = { readonly view: StateView; readonly nodes: NodeSource }

const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

class OverlayView implements StateView {
  readonly #below: StateView
  readonly #diff: StateDiff
  readonly #storageRoots: ReadonlyMap<string, Hash>
  readonly #block: BlockId | undefined

  constructor(below: StateView, diff: StateDiff, storageRoots: ReadonlyMap<string, Hash>, block: BlockId | undefined) {
    this.#below = below
    this.#diff = diff
    this.#storageRoots = storageRoots
    this.#block = block
  }

  account(addressKey: Uint8Array): Account | undefined {
    const change = this.#diff.account(addressKey)
    if (change === null) return undefined
    const storageRoot = this.#storageRoots.get(toHex(addressKey))
    if (change !== undefined) return { ...change, storageRoot: storageRoot ?? emptyRoot }
    const account = this.#below.account(addressKey)
    return account && storageRoot ? { ...account, storageRoot } : account
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const value = this.#diff.slot(addressKey, slotKey)
    if (value !== undefined) return isZero(value) ? undefined : value
    return this.#diff.isWiped(addressKey) ? undefined : this.#below.slot(addressKey, slotKey)
  }

  code(codeHash: Hash): Uint8Array {
    return this.#diff.code(codeHash) ?? this.#below.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    return number === this.#block?.number ? this.#block.hash : this.#below.blockHash(number)
  }
}

const nodeKey = (owner: Uint8Array | undefined, path: Uint8Array): string => (owner ? latin(owner) : '') + latin(path)

const latin = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

class OverlayNodes implements NodeSource {
  readonly #below: NodeSource
  readonly #diff: StateDiff
  readonly #changed: TrieDiff
  #byPlace: Map<string, Uint8Array | null> | undefined

  constructor(below: NodeSource, diff: StateDiff, changed: TrieDiff) {
    this.#below = below
    this.#diff = diff
    this.#changed = changed
  }

  get(owner: Uint8Array | undefined, path: Uint8Array, hash: Uint8Array, key?: Uint8Array): Uint8Array | undefined {
    this.#byPlace ??= new Map(this.#changed.map((change) => [nodeKey(change.owner, change.path), change.node]))
    const node = this.#byPlace.get(nodeKey(owner, path))
    if (node !== undefined) return node ?? undefined
    return owner && this.#diff.isWiped(owner) ? undefined : this.#below.get(owner, path, hash, key)
  }
}

/**
 * The state after one more block, in memory above another state.
 * @param result of `computeStateRoot` for the diff on the state below
 * @param block the block itself, for BLOCKHASH of its descendants
 */
export function overlay(
  below: WorldState,
  diff: StateDiff,
  result: Pick<StateRoot, 'nodes' | 'storageRoots'>,
  block?: BlockId,
): WorldState {
  return {
    view: new OverlayView(below.view, diff, result.storageRoots, block),
    nodes: new OverlayNodes(below.nodes, diff, result.nodes),
  }
}
