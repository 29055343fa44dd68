import type { BlockDeps, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutionView } from '#blockchain/view/chainView'
import { concatBytes, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import type { ExecutionWitness, SlicedWork, WitnessOutcome } from '#rpc/tracePorts'
import { encodeAccount } from '#state/account'
import type { NodeSource } from '#trie/ports'
import { topNode, visitNodes, type WitnessKey } from '#trie/witnessNodes'
import { encodeHeader, type Header } from '#types/header'
import { emptyRoot, type Hash } from '#types/ids'
import type { SimulationDeps } from '../simulationDeps.ts'
import { type Pieces, SlicedRun } from '../slicedRun.ts'
import { findNeeds, type WitnessBlock, type WitnessNeeds } from './witnessNeeds.ts'
import { nameOf, type PartName, type WitnessParts } from './witnessParts.ts'
import type { ReadSlot } from './witnessReads.ts'

/** RLP of the empty trie. Other clients include it, and the top node of each storage, even when they are not needed. */
const emptyTrie = Uint8Array.of(0x80)
const emptyRootBytes = fromHex(emptyRoot)
const addressBytes = 20
const slotBytes = 32

const slotLeaf = ({ key, value }: ReadSlot): WitnessKey => ({ key, value: value && encodeRlp(trimLeft(value)) })

/** Collects by hash the nodes that prove the reads and allow the update of the tries, one trie per piece. */
function* nodesOf({ accounts, updated }: WitnessNeeds, stateRoot: Hash, nodes: NodeSource): Pieces<ReadonlyMap<PartName, Uint8Array>> {
  const state = new Map<PartName, Uint8Array>()
  const found = (rlp: Uint8Array, hash: Uint8Array): void => {
    state.set(nameOf(hash), rlp)
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

/** Splits concatenated byte strings of equal length. */
const pieces = (all: Uint8Array, length: number): Uint8Array[] =>
  Array.from({ length: all.length / length }, (_, at) => all.subarray(at * length, (at + 1) * length))

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

type Witnessed = Omit<ExecutionWitness, 'headers'> & { readonly lowestBlock: number }

/** Builds the witness of a block from cached parts; undefined when some of them are missing. */
function knownWitness(parts: WitnessParts, hash: Hash): Witnessed | undefined {
  const known = parts.witness(hash)
  const state = known && parts.all(known.nodes)
  const codes = known && parts.all(known.codes)
  if (known === undefined || state === undefined || codes === undefined) return undefined
  const keys = [...pieces(known.addresses, addressBytes), ...pieces(known.slots, slotBytes)]
  return { state, codes, keys, lowestBlock: known.lowestBlock }
}

function keepWitness(parts: WitnessParts, hash: Hash, needs: WitnessNeeds, nodes: ReadonlyMap<PartName, Uint8Array>): void {
  const { codes, addresses, slots, lowestBlock } = needs
  for (const [name, rlp] of nodes) parts.keep(name, rlp)
  parts.keepWitness(hash, {
    nodes: [...nodes.keys()],
    codes: codes.map((code) => parts.keepCode(code)),
    addresses: concatBytes(...addresses),
    slots: concatBytes(...slots),
    lowestBlock,
  })
}

type Deps = SimulationDeps & BlockDeps

function* findWitness(
  deps: Deps,
  parent: ParentBlock,
  block: WitnessBlock,
  parts: WitnessParts,
  hash: Hash | undefined,
): Pieces<Witnessed | string> {
  const needs = yield* findNeeds(deps, parent, block)
  if (typeof needs === 'string') return needs
  const nodes = yield* nodesOf(needs, parent.header.stateRoot, parts.over(parent.state.nodes))
  const { codes, addresses, slots, lowestBlock } = needs
  if (hash !== undefined) keepWitness(parts, hash, needs, nodes)
  return { state: [...nodes.values()], codes, keys: [...addresses, ...slots], lowestBlock }
}

/**
 * Computes the execution witness of a block by running the block, in pieces.
 * @param hash hash of a known block, which caches the witness; absent: the witness is not cached
 */
export function createWitness(deps: Deps, block: WitnessBlock, parts: WitnessParts, hash?: Hash): SlicedWork<WitnessOutcome> {
  return new SlicedRun(deps, block.parentHash, function* (parent): Pieces<WitnessOutcome> {
    const found = (hash && knownWitness(parts, hash)) ?? (yield* findWitness(deps, parent, block, parts, hash))
    if (typeof found === 'string') return { kind: 'refused', reason: found }
    const { lowestBlock, ...rest } = found
    using view = deps.execution.view()
    return { kind: 'found', witness: { ...rest, headers: headersFrom(view, parent.header, lowestBlock) } }
  })
}
