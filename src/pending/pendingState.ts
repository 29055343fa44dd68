import type { ParentBlock } from '#block/execution/executeBlock'
import type { PendingBlock } from '#block/execution/pendingBlock'
import type { Account, StateView } from '#evm/ports'
import { computeStateRoot, type StateRoot } from '#state/stateRoot'
import { overlay } from '#state/stateStack'
import { createWorldReads, type WorldReads } from '#state/worldReads'
import type { WorldState } from '#state/worldState'
import type { NodeSource } from '#trie/ports'
import { emptyCodeHash, emptyRoot, type Hash, zeroHash } from '#types/ids'

/** Says that an account has storage whose root nobody has computed. */
const uncomputedRoot: Hash = zeroHash

/** Only code has slots, and an account that code was put on has a nonce: of all others it is known that they have none (EIP-7610 asks). */
const rootOf = (storageRoot: Hash, { nonce, codeHash }: Pick<Account, 'nonce' | 'codeHash'>): Hash =>
  storageRoot === emptyRoot && (nonce > 0n || codeHash !== emptyCodeHash) ? uncomputedRoot : storageRoot

const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

/** The values of the state after a block that is not sealed. Of storage roots it knows whether they are empty. */
class PendingView implements StateView {
  readonly #below: StateView
  readonly #block: PendingBlock
  readonly #hash: Hash | undefined

  constructor(below: StateView, block: PendingBlock, hash: Hash | undefined) {
    this.#below = below
    this.#block = block
    this.#hash = hash
  }

  account(addressKey: Uint8Array): Account | undefined {
    const { diff } = this.#block
    const change = diff.account(addressKey)
    if (change === null) return undefined
    const before = this.#below.account(addressKey)
    const account = change ?? before
    if (account === undefined) return undefined
    const storageRoot = before && !diff.isWiped(addressKey) ? before.storageRoot : emptyRoot
    return { nonce: account.nonce, balance: account.balance, codeHash: account.codeHash, storageRoot: rootOf(storageRoot, account) }
  }

  slot(addressKey: Uint8Array, slotKey: Uint8Array): Uint8Array | undefined {
    const { diff } = this.#block
    const value = diff.slot(addressKey, slotKey)
    if (value !== undefined) return isZero(value) ? undefined : value
    return diff.isWiped(addressKey) ? undefined : this.#below.slot(addressKey, slotKey)
  }

  code(codeHash: Hash): Uint8Array {
    return this.#block.diff.code(codeHash) ?? this.#below.code(codeHash)
  }

  blockHash(number: number): Hash | undefined {
    return number === this.#block.header.number ? this.#hash : this.#below.blockHash(number)
  }
}

/** Nobody who runs messages asks for nodes. */
const noTrie: NodeSource = {
  get(): never {
    throw new RangeError('the state of a block that is not sealed has no trie')
  },
}

/**
 * The last of some blocks that are not sealed, to run messages on: the values of its state, without a trie. Cost of a read: O(blocks).
 * @param on the block below them
 * @param blocks oldest first
 * @param tipHash of the last one, where a block above it names it; BLOCKHASH knows the others by the block above them
 */
export function parentAbove(on: ParentBlock, blocks: readonly PendingBlock[], tipHash: Hash | undefined): ParentBlock {
  return blocks.reduce<ParentBlock>((below, block, i) => {
    const hash = blocks[i + 1]?.header.parentHash ?? tipHash
    const state = { view: new PendingView(below.state.view, block, hash), nodes: noTrie }
    return { header: block.header, hash: hash ?? block.id, state }
  }, on)
}

/** A state and its root. */
type Rooted = { readonly state: WorldState; readonly root: Hash }

/** Computed once for a block, whoever asks: it takes about as long as sealing the block. */
const tries = new WeakMap<PendingBlock, StateRoot>()

function rootedAbove({ state, header }: ParentBlock, blocks: readonly PendingBlock[]): Rooted {
  return blocks.reduce<Rooted>(
    (below, block) => {
      const result = tries.get(block) ?? computeStateRoot(below.state.nodes, below.root, below.state.view, block.diff)
      tries.set(block, result)
      return { state: overlay(below.state, block.diff, result), root: result.root }
    },
    { state, root: header.stateRoot },
  )
}

/**
 * The state after the last of some blocks that are not sealed. Storage roots and proofs are computed when they are asked for.
 * @param on the block below them
 * @param blocks oldest first
 */
export function readsAbove(on: ParentBlock, blocks: readonly PendingBlock[]): WorldReads {
  const values = createWorldReads(parentAbove(on, blocks, undefined).state, zeroHash)
  let computed: WorldReads | undefined
  const proven = (): WorldReads => {
    if (computed === undefined) {
      const { state, root } = rootedAbove(on, blocks)
      computed = createWorldReads(state, root)
    }
    return computed
  }
  return {
    code: values.code,
    slot: values.slot,
    account(address): Account | undefined {
      const account = values.account(address)
      if (account === undefined) return undefined
      const { nonce, balance, codeHash } = account
      return {
        nonce,
        balance,
        codeHash,
        get storageRoot(): Hash {
          return proven().account(address)?.storageRoot ?? emptyRoot
        },
      }
    },
    prove: (address, slots) => proven().prove(address, slots),
  }
}
