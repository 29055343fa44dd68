import { Buffer } from 'node:buffer'
import type { ChainView } from '#execution/chainView'
import { CurrentState } from '#execution/currentState'
import type { BlockDeps, ParentBlock } from '#execution/executeBlock'
import { trimLeft } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlp } from '#lib/rlp'
import type { ExecutionWitness, WitnessOutcome, WitnessWork } from '#rpc/tracePorts'
import { encodeAccount } from '#state/account'
import type { NodeSource } from '#trie/ports'
import { topNode, visitNodes, type WitnessKey } from '#trie/witnessNodes'
import { encodeHeader, type Header } from '#types/header'
import { emptyRoot, type Hash } from '#types/ids'
import type { TracingDeps } from './tracing.ts'
import { findNeeds, type Pieces, type WitnessBlock, type WitnessNeeds } from './witnessNeeds.ts'
import type { ReadSlot } from './witnessReads.ts'

/** Other clients name the only node of an empty trie, and the top of each storage, whether or not they are needed. */
const emptyTrie = Uint8Array.of(0x80)
const emptyRootBytes = fromHex(emptyRoot)
/** Work between two turns of the event loop. */
const sliceMs = 10

const latin = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

const slotLeaf = ({ key, value }: ReadSlot): WitnessKey => ({ key, value: value && encodeRlp(trimLeft(value)) })

/** The nodes that prove what was read and let it change, a trie a piece. */
function* nodesOf({ accounts, updated }: WitnessNeeds, stateRoot: Hash, nodes: NodeSource): Pieces<readonly Uint8Array[]> {
  const state = new Map<string, Uint8Array>()
  const found = (rlp: Uint8Array, hash: Uint8Array): void => {
    state.set(latin(hash), rlp)
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
  return [...state.values()]
}

/** RLP of the parent and of the ancestors that BLOCKHASH was asked for. */
function headersFrom(view: ChainView, parent: Header, lowest: number): readonly Uint8Array[] {
  const headers = [parent]
  for (let first = parent; first.number > lowest; ) {
    const before = view.header(first.parentHash)
    if (before === undefined) break
    headers.unshift(before)
    first = before
  }
  return headers.map(encodeHeader)
}

/** What was found of earlier blocks; by block. */
export type KnownNeeds = { get(): WitnessNeeds | undefined; keep(needs: WitnessNeeds): void }

/** What a block needs to be run elsewhere, found by running it here, in pieces. */
export class WitnessRun implements WitnessWork {
  readonly #deps: TracingDeps & BlockDeps
  readonly #block: WitnessBlock
  readonly #known: KnownNeeds | undefined
  readonly #current = new CurrentState()
  #view: ChainView | undefined
  #pieces: Pieces<WitnessOutcome> | undefined
  #outcome: WitnessOutcome | undefined

  /** @param known absent: nothing is kept */
  constructor(deps: TracingDeps & BlockDeps, block: WitnessBlock, known?: KnownNeeds) {
    this.#deps = deps
    this.#block = block
    this.#known = known
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
    const needs = this.#known?.get() ?? (yield* findNeeds(this.#deps, parent, this.#current, this.#block))
    if (typeof needs === 'string') return { kind: 'refused', reason: needs }
    this.#known?.keep(needs)
    const state = yield* nodesOf(needs, parent.header.stateRoot, this.#current.nodes)
    const { codes, keys, lowestBlock } = needs
    const headers = this.#view === undefined ? [] : headersFrom(this.#view, parent.header, lowestBlock)
    const witness: ExecutionWitness = { state, codes, keys, headers }
    return { kind: 'found', witness }
  }

  get outcome(): WitnessOutcome | undefined {
    return this.#outcome
  }

  [Symbol.dispose](): void {
    this.#pieces?.return({ kind: 'refused', reason: 'given up' })
  }
}
