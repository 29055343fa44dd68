import { blockKey } from '#blockchain/chainRows'
import { putGenesisId, putHeads } from '#blockchain/chainStore'
import { u64Bytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { latestState, oldestState, unwindState, writeGenesis, writeState } from '#state/chainState'
import { computeStateRoot } from '#state/stateRoot'
import type { Kv, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { noNodes } from '#trie/ports'
import type { UpdatedState } from '#trie/tries'
import type { BlockId } from '#types/blockRef'
import { encodeHeader } from '#types/header'
import { emptyRoot, type Hash, hashFromBytes } from '#types/ids'
import { headerOf } from './headers.ts'
import { type Model, play, type Touch } from './stateModel.ts'

/** A chain of states with headers in a store, and its models: `models[n]` is the state after block n. Its genesis is empty. */
export class ModelChain {
  readonly kv: Kv
  readonly models: Model[] = []
  readonly roots: Hash[] = []
  readonly #hashes: Hash[] = []
  #made: number
  #finalized = 0

  /** @param made number in the headers, in which chains may differ */
  constructor(kv: Kv, made = 0) {
    this.kv = kv
    this.#made = made
    const { diff, after } = play(new Map(), [])
    const result = computeStateRoot(noNodes, emptyRoot, diff)
    kv.write((tx) => {
      writeGenesis(tx, diff, result)
      this.#put(tx, after, result)
      putGenesisId(tx, { number: 0, hash: this.#hashes[0] as Hash })
    })
  }

  get head(): number {
    return this.models.length - 1
  }

  /** Number of the last final block: it has forty blocks above it, and is never unwound. */
  get finalized(): number {
    return this.#finalized
  }

  /** Number of the oldest block whose state is available. */
  get oldest(): number {
    using reader = this.kv.snapshot()
    return oldestState(reader)
  }

  append(block: readonly Touch[]): void {
    const number = this.models.length
    const { diff, after } = play(this.models[number - 1] ?? new Map(), block)
    this.kv.write((tx) => {
      const { nodes } = latestState(tx, () => undefined)
      const result = computeStateRoot(nodes, this.roots[number - 1] ?? emptyRoot, diff)
      writeState(tx, number, diff, result)
      this.#put(tx, after, result)
    })
  }

  /** Removes the last blocks. */
  unwind(count: number): void {
    this.kv.write((tx) => {
      for (let i = 0; i < count; i++) {
        unwindState(tx, this.head)
        tx.delete(tables.canonical.id, u64Bytes(this.head))
        for (const list of [this.models, this.roots, this.#hashes]) list.pop()
      }
      this.#putHead(tx)
    })
  }

  /** Gives the header of a block another state root, as if the values that lead to it were damaged. */
  falsifyRoot(number: number, stateRoot: Hash): void {
    const id = { number, hash: this.#hashes[number] as Hash }
    this.kv.write((tx) => tx.put(tables.headers.id, blockKey(id), encodeHeader(headerOf({ number, stateRoot }))))
  }

  #put(tx: KvWriter, after: Model, { root }: UpdatedState): void {
    const number = this.models.length
    const header = headerOf({ number, timestamp: 1_000 + number, stateRoot: root, gasUsed: BigInt(this.#made++) })
    const hash = hashFromBytes(keccak256(encodeHeader(header)))
    tx.put(tables.headers.id, blockKey({ number, hash }), encodeHeader(header))
    tx.put(tables.canonical.id, u64Bytes(number), fromHex(hash))
    this.models.push(after)
    this.roots.push(root)
    this.#hashes.push(hash)
    this.#putHead(tx)
  }

  #putHead(tx: KvWriter): void {
    this.#finalized = Math.max(this.#finalized, this.head - 40)
    const idOf = (number: number): BlockId => ({ number, hash: this.#hashes[number] as Hash })
    putHeads(tx, { unsafe: idOf(this.head), safe: idOf(this.#finalized), finalized: idOf(this.#finalized) }, 0)
  }
}
