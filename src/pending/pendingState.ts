import type { ParentBlock } from '#block/execution/executeBlock'
import type { StateView } from '#evm/ports'
import { computeStateRoot, type StateRoot } from '#state/stateRoot'
import { overlay } from '#state/stateStack'
import { createWorldReads } from '#state/worldReads'
import type { WorldState } from '#state/worldState'
import type { NodeSource } from '#trie/ports'
import type { Account } from '#types/account'
import { emptyCodeHash, emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { PendingBlock } from '#types/pendingBlock'
import type { WorldReads } from '#types/worldReads'

/** Marks an account whose storage root is not computed. */
const uncomputedRoot: Hash = zeroHash

/**
 * Returns the storage root as far as it is known. Only an account with code has slots, and creating one sets its nonce; others have none
 * (EIP-7610).
 */
const rootOf = (storageRoot: Hash, { nonce, codeHash }: Pick<Account, 'nonce' | 'codeHash'>): Hash =>
  storageRoot === emptyRoot && (nonce > 0n || codeHash !== emptyCodeHash) ? uncomputedRoot : storageRoot

const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

/** State after a pending block, by its values. It knows only whether storage roots are empty. */
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

/** Messages read no trie nodes. */
const noTrie: NodeSource = {
  get(): never {
    throw new RangeError('the state of a pending block has no trie')
  },
}

/**
 * Returns the last of some pending blocks as a parent to run messages on: the values of its state, without a trie. A read costs O(blocks).
 * @param on the block below them
 * @param blocks oldest first
 * @param tipHash hash of the last one if a block above names it; BLOCKHASH takes the others from the block above each
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

/** Tries of blocks, computed once for each: that takes about as long as sealing the block. */
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
 * Returns the state after the last of some pending blocks. Storage roots and proofs are computed on demand.
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
