import { compareBytes, equalBytes, latin1, u64Bytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { deletedKeys } from '#state/changeIndex'
import type { Digest, Digests } from '#state/digests/digests'
import type { HistoryCache } from '#state/historyCache'
import { blockRowKey, rowBefore, upperOf } from '#state/nodeHistory'
import { imageIn, type NodeImage, sharedImageIn } from '#state/nodeRow'
import { decodeBefore, type StateRows } from '#state/rows'
import type { KvReader, Row } from '#store/ports'
import { proofsTables } from '#store/tables'
import { OlderBranch } from '#trie/branchDelta'
import { indices } from './proofStore.ts'
import { endPosition, numberAt, positionIn, type Region } from './regions.ts'
import { valueIn } from './valueRow.ts'

/** Consecutive recorded blocks, and their digests. `upTo`: the last one that the base has. */
export type RecordedBlocks = {
  readonly reader: KvReader
  readonly regions: readonly Region[]
  readonly digests: Digests
  readonly upTo: number
}

/** Blocks of a search that have the same digests. */
type Span = { readonly first: number; readonly last: number }

/** Iterates over the recorded blocks of a span that may have changed a row, ascending, without changes whose hint is not wanted. */
function* blocksIn(
  { reader, regions }: RecordedBlocks,
  { first, last }: Span,
  of: keyof typeof indices,
  digest: number,
  isWanted?: (hint: number) => boolean,
): Generator<number> {
  const index = indices[of]
  for (const region of regions) {
    const [from, to] = [Math.max(first, region.first), Math.min(region.last, last)]
    if (from > to) continue
    if (region.base === undefined) yield* index.up.blocksUp(reader, digest, { from, to, head: region.last }, isWanted)
    else {
      const span = { from: positionIn(region, from), to: positionIn(region, to), head: endPosition(region) }
      for (const position of index.down.blocksDown(reader, digest, span, isWanted)) yield numberAt(region, position)
    }
  }
}

/** Images of nodes that are read of one state before rows are cached: so many mean that the caller executes a block. */
const imagesBeforeCaching = 256
/** Blocks after a state whose rows are cached. Upper nodes change in each of them; a read of the store copies the whole row. */
const nearBlocks = 128

/** Rows as of a block in recorded regions: each has the value before its first change after the block, or else that of the base. */
export class ProofRows implements StateRows {
  readonly #blocks: RecordedBlocks
  readonly #number: number
  readonly #base: StateRows
  readonly #cache: HistoryCache
  #images = 0
  /** The last row that was read: a proof asks for the row of its key at each node of the path. */
  #last: { readonly table: number; readonly key: Uint8Array; readonly value: Uint8Array | undefined } | undefined

  /** @param number block in the regions, or the one before their first @param base rows of the last of `blocks` */
  constructor(blocks: RecordedBlocks, number: number, base: StateRows, cache: HistoryCache) {
    this.#blocks = blocks
    this.#number = number
    this.#base = base
    this.#cache = cache
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    const isLast = this.#last?.table === table && equalBytes(this.#last.key, key)
    // a copy: the key may be a view of memory that its owner writes again
    if (!isLast) this.#last = { table, key: key.slice(), value: this.#value(table, key) }
    return this.#last?.value
  }

  #value(table: number, key: Uint8Array): Uint8Array | undefined {
    const { reader } = this.#blocks
    for (const { span, digest } of this.#spans()) {
      for (const number of blocksIn(this.#blocks, span, 'values', digest.row(key))) {
        const before = reader.look(proofsTables.values.id, u64Bytes(number), (row) => valueIn(row, table, key))
        if (before) return decodeBefore(before)
      }
    }
    return this.#base.get(table, key)
  }

  /** Divides the blocks after the state by their digests, ascending. */
  #spans(): readonly { readonly span: Span; readonly digest: Digest }[] {
    const { digests, upTo } = this.#blocks
    return digests.spans(this.#number + 1, upTo).map(({ from, to, digest }) => ({ span: { first: from, last: to }, digest }))
  }

  node<T>(table: number, key: Uint8Array, hash: Uint8Array, use: (rlp: Uint8Array) => T): T | undefined {
    return this.#base.node(table, key, hash, (node) => (equalBytes(keccak256(node), hash) ? use(node) : undefined))
  }

  replacedNode(table: number, key: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const row = this.nodeRow(table, key)
    return row && equalBytes(keccak256(row), hash) ? row : undefined
  }

  nodeRow(table: number, key: Uint8Array): Uint8Array | undefined {
    const older = new OlderBranch()
    const isWanted = (child: number): boolean => child === 0 || !older.knows(child - 1)
    return rowBefore(this.#imagesOf(table, key, isWanted), () => this.#base.nodeRow(table, key), older)
  }

  latestKeys(table: number, from: Uint8Array, to: Uint8Array | undefined, limit: number): Iterable<Uint8Array> {
    return this.#base.latestKeys(table, from, to, limit)
  }

  *range(table: number, from: Uint8Array, to: Uint8Array | undefined): Generator<Row> {
    const keys = new Map<string, Uint8Array>()
    for (const { key } of this.#base.range(table, from, to)) keys.set(latin1(key), key)
    for (const key of deletedKeys(this.#blocks.reader, table, { from, to }, this.#number)) keys.set(latin1(key), key)
    for (const key of [...keys.values()].sort(compareBytes)) {
      const value = this.get(table, key)
      if (value !== undefined) yield { key, value }
    }
  }

  *#imagesOf(table: number, key: Uint8Array, isWanted: (hint: number) => boolean): Generator<NodeImage> {
    for (const { span, digest } of this.#spans()) {
      const own = digest.node(table, key)
      for (const number of blocksIn(this.#blocks, span, 'nodes', upperOf(own), isWanted)) {
        const image = this.#imageIn(number, own)
        if (image) yield image
      }
    }
  }

  #imageIn(number: number, digest: number): NodeImage | undefined {
    const { reader } = this.#blocks
    const isCached = ++this.#images > imagesBeforeCaching && number - this.#number <= nearBlocks
    if (!isCached) return reader.look(proofsTables.nodeHistory.id, blockRowKey(number), (row) => imageIn(row, digest))
    const row = this.#cache.recorded(number, () => reader.get(proofsTables.nodeHistory.id, blockRowKey(number)))
    return row && sharedImageIn(row, digest)
  }
}
