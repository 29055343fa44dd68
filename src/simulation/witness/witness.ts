import type { BlockDeps, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutionView } from '#blockchain/view/chainView'
import { latin1, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import type { SlicedWork, WitnessOutcome } from '#rpc/tracePorts'
import { encodeAccount } from '#state/account'
import type { NodeSource } from '#trie/ports'
import { topNode, visitNodes, type WitnessKey } from '#trie/witnessNodes'
import { encodeHeader, type Header } from '#types/header'
import { emptyRoot, type Hash } from '#types/ids'
import { OutOfTime } from '../call/callTimer.ts'
import type { SimulationDeps } from '../simulationDeps.ts'
import { type Pieces, SlicedRun, type Turns } from '../slicedRun.ts'
import { findNeeds, type WitnessBlock, type WitnessNeeds } from './witnessNeeds.ts'
import type { Witnessed, WitnessParts } from './witnessParts.ts'
import type { ReadSlot } from './witnessReads.ts'

/** RLP of the empty trie. Other clients include it, and the top node of each storage, even when they are not needed. */
const emptyTrie = Uint8Array.of(0x80)
const emptyRootBytes = fromHex(emptyRoot)

const slotLeaf = ({ key, value }: ReadSlot): WitnessKey => ({ key, value: value && encodeRlp(trimLeft(value)) })

/** Collects by hash the nodes that prove the reads and allow the update of the tries, one trie per piece. */
function* nodesOf({ accounts, updated }: WitnessNeeds, stateRoot: Hash, nodes: NodeSource): Pieces<ReadonlyMap<string, Uint8Array>> {
  const state = new Map<string, Uint8Array>()
  const found = (rlp: Uint8Array, hash: Uint8Array): void => {
    state.set(latin1(hash), rlp)
  }
  visitNodes(
    nodes,
    undefined,
    stateRoot,
    accounts.map(({ key, account }) => ({ key, value: account && encodeAccount(account) })),
    found,
  )
  yield
  for (const { key, account, slots } of accounts) {
    if (account === undefined) continue
    const { storageRoot } = account
    if (storageRoot === emptyRoot) found(emptyTrie, emptyRootBytes)
    else if (slots.size === 0) found(topNode(nodes, key, storageRoot), fromHex(storageRoot))
    else visitNodes(nodes, key, storageRoot, Array.from(slots.values(), slotLeaf), found)
    yield
  }
  for (const rlp of updated) found(rlp, keccak256(rlp))
  return state
}

/** RLP of the parent's header and of the ancestors whose hashes BLOCKHASH has read. */
function headersFrom(view: ExecutionView, parent: Header, lowest: number): readonly Uint8Array[] {
  const headers = [parent]
  for (let first = parent; first.number > lowest; ) {
    const before = view.header(first.parentHash)
    if (before === undefined) break
    headers.unshift(before)
    first = before
  }
  return headers.map(encodeHeader)
}

type Deps = SimulationDeps & BlockDeps

/** @throws OutOfTime */
function* findWitness(deps: Deps, parent: ParentBlock, block: WitnessBlock): Pieces<Witnessed | string> {
  const needs = yield* findNeeds(deps, parent, block)
  if (typeof needs === 'string') return needs
  const nodes = yield* nodesOf(needs, parent.header.stateRoot, parent.state.nodes)
  const { codes, addresses, slots, lowestBlock } = needs
  return { state: [...nodes.values()], codes, keys: [...addresses, ...slots], lowestBlock }
}

/** Witnesses of a thread. They are computed one at a time: several at once would need an interpreter each, and evict each other's cached rows. */
export type Witnesses = { readonly parts: WitnessParts; readonly turns: Turns }

/**
 * Computes the execution witness of a block by running the block, in pieces.
 * @param hash hash of a known block, which caches the witness; absent: the witness is not cached
 */
export function createWitness(deps: Deps, block: WitnessBlock, { parts, turns }: Witnesses, hash?: Hash): SlicedWork<WitnessOutcome> {
  const find = function* (parent: ParentBlock): Pieces<WitnessOutcome> {
    const known = hash && parts.get(hash)
    const found = known ?? (yield* findWitness(deps, parent, block))
    if (typeof found === 'string') return { kind: 'refused', reason: found }
    if (hash !== undefined && known === undefined) parts.keep(hash, found)
    const { lowestBlock, ...rest } = found
    using view = deps.execution.view()
    return { kind: 'found', witness: { ...rest, headers: headersFrom(view, parent.header, lowestBlock) } }
  }
  const begin = function* (parent: ParentBlock): Pieces<WitnessOutcome> {
    try {
      return yield* find(parent)
    } catch (error) {
      if (error instanceof OutOfTime) return { kind: 'timeout', timeoutMs: error.timeoutMs }
      throw error
    }
  }
  const turn = turns.add(() => hash !== undefined && parts.has(hash))
  return new SlicedRun(deps, block.parentHash, begin, turn)
}
