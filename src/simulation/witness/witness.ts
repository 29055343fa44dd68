import type { BlockDeps, ParentBlock } from '#block/execution/executeBlock'
import type { ExecutionView } from '#blockchain/view/chainView'
import { concatBytes, trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import type { ExecutionWitness, WitnessOutcome, WitnessWork } from '#rpc/tracePorts'
import { encodeAccount } from '#state/account'
import { CurrentState } from '#state/currentState'
import type { NodeSource } from '#trie/ports'
import { topNode, visitNodes, type WitnessKey } from '#trie/witnessNodes'
import { encodeHeader, type Header } from '#types/header'
import { emptyRoot, type Hash } from '#types/ids'
import type { TracingDeps } from '../trace/tracingDeps.ts'
import { findNeeds, type Pieces, type WitnessBlock, type WitnessNeeds } from './witnessNeeds.ts'
import { nameOf, type PartName, type WitnessParts } from './witnessParts.ts'
import type { ReadSlot } from './witnessReads.ts'

/** RLP of the empty trie. Other clients include it, and the top node of each storage, even when they are not needed. */
const emptyTrie = Uint8Array.of(0x80)
const emptyRootBytes = fromHex(emptyRoot)
const addressBytes = 20
const slotBytes = 32
/** Maximum time of the work in one turn of the event loop. */
const sliceMs = 10

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

/** Computes the execution witness of a block by running the block, in pieces. */
export class WitnessRun implements WitnessWork {
  readonly #deps: TracingDeps & BlockDeps
  readonly #block: WitnessBlock
  readonly #parts: WitnessParts
  readonly #hash: Hash | undefined
  readonly #current = new CurrentState()
  #view: ExecutionView | undefined
  #pieces: Pieces<WitnessOutcome> | undefined
  #outcome: WitnessOutcome | undefined

  /** @param hash hash of a known block, which caches the witness; absent: the witness is not cached */
  constructor(deps: TracingDeps & BlockDeps, block: WitnessBlock, parts: WitnessParts, hash?: Hash) {
    this.#deps = deps
    this.#block = block
    this.#parts = parts
    this.#hash = hash
  }

  work(): boolean | 'pruned' {
    using view = this.#deps.execution.view()
    const parent = view.parent(this.#block.parentHash)
    if (parent === undefined) return 'pruned'
    this.#view = view
    try {
      return this.#current.during(parent.state, () => this.#workOn(parent))
    } finally {
      this.#view = undefined
    }
  }

  #workOn(parent: ParentBlock): boolean {
    const { clock } = this.#deps
    const endMs = clock.elapsedMs() + sliceMs
    this.#pieces ??= this.#run(parent)
    while (this.#outcome === undefined && clock.elapsedMs() < endMs) {
      const piece = this.#pieces.next()
      if (piece.done === true) this.#outcome = piece.value
    }
    return this.#outcome !== undefined
  }

  *#run(parent: ParentBlock): Pieces<WitnessOutcome> {
    const found = this.#known() ?? (yield* this.#find(parent))
    if (typeof found === 'string') return { kind: 'refused', reason: found }
    const { lowestBlock, ...parts } = found
    const headers = this.#view === undefined ? [] : headersFrom(this.#view, parent.header, lowestBlock)
    return { kind: 'found', witness: { ...parts, headers } }
  }

  /** Builds the witness from cached parts; undefined when some of them are missing. */
  #known(): Witnessed | undefined {
    const known = this.#hash === undefined ? undefined : this.#parts.witness(this.#hash)
    const state = known && this.#parts.all(known.nodes)
    const codes = known && this.#parts.all(known.codes)
    if (known === undefined || state === undefined || codes === undefined) return undefined
    const keys = [...pieces(known.addresses, addressBytes), ...pieces(known.slots, slotBytes)]
    return { state, codes, keys, lowestBlock: known.lowestBlock }
  }

  *#find(parent: ParentBlock): Pieces<Witnessed | string> {
    const needs = yield* findNeeds(this.#deps, parent, this.#current, this.#block)
    if (typeof needs === 'string') return needs
    const nodes = yield* nodesOf(needs, parent.header.stateRoot, this.#parts.over(this.#current.nodes))
    const { codes, addresses, slots, lowestBlock } = needs
    if (this.#hash !== undefined) this.#keep(this.#hash, needs, nodes)
    return { state: [...nodes.values()], codes, keys: [...addresses, ...slots], lowestBlock }
  }

  #keep(hash: Hash, { codes, addresses, slots, lowestBlock }: WitnessNeeds, nodes: ReadonlyMap<PartName, Uint8Array>): void {
    for (const [name, rlp] of nodes) this.#parts.keep(name, rlp)
    this.#parts.keepWitness(hash, {
      nodes: [...nodes.keys()],
      codes: codes.map((code) => this.#parts.keepCode(code)),
      addresses: concatBytes(...addresses),
      slots: concatBytes(...slots),
      lowestBlock,
    })
  }

  get outcome(): WitnessOutcome | undefined {
    return this.#outcome
  }

  [Symbol.dispose](): void {
    this.#pieces?.return({ kind: 'refused', reason: 'abandoned' })
  }
}
