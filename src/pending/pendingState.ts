import type { ParentBlock } from '#block/execution/executeBlock'
import { lazy } from '#lib/lazy'
import { createLayer } from '#state/stateLayer'
import { computeStateRoot } from '#state/stateRoot'
import { overlay, stackedState } from '#state/stateStack'
import { createValueReads, createWorldReads } from '#state/worldReads'
import type { WorldState } from '#state/worldState'
import type { UpdatedState } from '#trie/tries'
import type { Account } from '#types/account'
import { emptyRoot, type Hash } from '#types/ids'
import type { PendingBlock } from '#types/pendingBlock'
import type { WorldReads } from '#types/worldReads'

/**
 * Returns the last of some pending blocks as a parent to run messages on: the values of its state, without a trie.
 * @param on the block below them
 * @param blocks oldest first
 * @param tipHash hash of the last one if a block above names it; BLOCKHASH takes the others from the block above each
 */
export function parentAbove(on: ParentBlock, blocks: readonly PendingBlock[], tipHash: Hash | undefined): ParentBlock {
  const last = blocks.at(-1)
  if (last === undefined) return on
  const layers = blocks.map(({ diff, header: { number } }, i) => {
    const hash = blocks[i + 1]?.header.parentHash ?? tipHash
    return createLayer({ diff, block: hash && { number, hash } })
  })
  return { header: last.header, hash: tipHash ?? last.id, state: stackedState(on.state, layers) }
}

/** A state and its root. */
type Rooted = { readonly state: WorldState; readonly root: Hash }

/** Tries of blocks, computed once for each: that takes about as long as sealing the block. */
const tries = new WeakMap<PendingBlock, UpdatedState>()

function rootedAbove({ state, header }: ParentBlock, blocks: readonly PendingBlock[]): Rooted {
  return blocks.reduce<Rooted>(
    (below, block) => {
      const result = tries.get(block) ?? computeStateRoot(below.state.nodes, below.root, block.diff)
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
  const values = createValueReads(parentAbove(on, blocks, undefined).state.view)
  const proven = lazy(() => {
    const { state, root } = rootedAbove(on, blocks)
    return createWorldReads(state, root)
  })
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
    leaves: (owner, range, limits) => proven().leaves(owner, range, limits),
  }
}
