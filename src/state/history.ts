import { compareBytes, concatBytes, equalBytes, latin1, u32At, u64Bytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import type { KvReader, KvWriter, Row } from '#store/ports'
import { deletedKeys, type FoundChange, firstChangeFrom } from './changeIndex.ts'
import type { HistoryCache, RowSpan } from './historyCache.ts'
import { imagesIn, rowBefore } from './nodeHistory.ts'
import type { NodeImage } from './nodeRow.ts'
import { changeKey, changesTable, decodeBefore, historyIndexTable, isDeletion, readMark, type StateRows, writeMark } from './rows.ts'

/** A closed chunk has 64 block numbers. The open chunk is written again with each of them. */
const chunkBytes = 64 * 8
/** Ends the key of a row's open chunk in the index, instead of the last number of a closed one. */
export const openEnd: Uint8Array = new Uint8Array(8).fill(0xff)

const indexPrefix = (table: number, key: Uint8Array): Uint8Array => concatBytes(Uint8Array.of(table), key)
/** Returns the prefix of a row in the index, in latin-1. */
const placeOf = (table: number, key: Uint8Array): string => String.fromCharCode(table) + latin1(key)

const numberAt = (chunk: Uint8Array, at: number): number => u32At(chunk, at) * 2 ** 32 + u32At(chunk, at + 4)

/** Returns the first number in a chunk that is higher than `number`. */
function firstAbove(chunk: Uint8Array, number: number): number | undefined {
  let [low, high] = [0, chunk.length / 8]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numberAt(chunk, 8 * middle) > number) high = middle
    else low = middle + 1
  }
  return 8 * low < chunk.length ? numberAt(chunk, 8 * low) : undefined
}

/** A row that a block changed, with its previous value. `isDeleted`: as of `isDeletion`. */
export type RowChange = {
  readonly table: number
  readonly key: Uint8Array
  readonly before: Uint8Array | undefined
  readonly isDeleted?: boolean | undefined
}

/** Iterates over the changes of a block. */
export function* changesOf(reader: KvReader, number: number): Generator<RowChange> {
  for (const { key, value } of reader.range(changesTable, { from: u64Bytes(number), to: u64Bytes(number + 1) })) {
    yield { table: key[8] ?? 0, key: key.subarray(9), before: decodeBefore(value), isDeleted: isDeletion(value) }
  }
}

/** A row's prefix in the index, and the numbers of the blocks that changed it, u64 each. */
type IndexRow = { readonly prefix: Uint8Array; readonly numbers: Uint8Array[] }

/**
 * Extends the index of schema 5 up to a block, in key order. Reads search the blocks above it one by one, unless they have runs.
 * @param upTo at most the head
 */
export function indexHistory(tx: KvWriter, upTo: number): void {
  const indexed = readMark(tx, 'indexed') ?? 0
  for (const { prefix, numbers } of changesByRow(tx, indexed + 1, upTo)) append(tx, prefix, numbers)
  writeMark(tx, 'indexed', Math.max(indexed, upTo))
}

/** Ends the index of schema 5: it covers all blocks so far, and later ones have runs (`changeIndex.ts`). */
export function beginRuns(tx: KvWriter): void {
  if (readMark(tx, 'runs') !== undefined) return
  const head = readMark(tx, 'head') ?? 0
  indexHistory(tx, head)
  writeMark(tx, 'runs', head)
}

/** Groups changes by row. The key of a change is its block number and the row's prefix in the index. */
function* changesByRow(tx: KvWriter, first: number, last: number): Generator<IndexRow> {
  const keys = tx.keys(changesTable, { from: u64Bytes(first), to: u64Bytes(last + 1) })
  const rows = new Map<string, IndexRow>()
  for (const key of keys) {
    const [number, prefix] = [key.subarray(0, 8), key.subarray(8)]
    const name = latin1(prefix)
    const known = rows.get(name)
    if (known) known.numbers.push(number)
    else rows.set(name, { prefix, numbers: [number] })
  }
  for (const name of [...rows.keys()].sort()) {
    const row = rows.get(name)
    if (row) yield row
  }
}

function append(tx: KvWriter, prefix: Uint8Array, numbers: readonly Uint8Array[]): void {
  const openKey = concatBytes(prefix, openEnd)
  let all = tx.look(historyIndexTable, openKey, (open) => concatBytes(open, ...numbers)) ?? concatBytes(...numbers)
  while (all.length > chunkBytes) {
    const closed = all.subarray(0, chunkBytes)
    tx.put(historyIndexTable, concatBytes(prefix, closed.subarray(-8)), closed)
    all = all.subarray(chunkBytes)
  }
  tx.put(historyIndexTable, openKey, all)
}

/** Removes the last block number of a row from the index. */
export function popHistory(tx: KvWriter, table: number, key: Uint8Array): void {
  const prefix = indexPrefix(table, key)
  const openKey = concatBytes(prefix, openEnd)
  const range = { from: concatBytes(prefix, u64Bytes(0)), to: concatBytes(openKey, Uint8Array.of(0)), reverse: true, limit: 1 }
  for (const chunk of tx.range(historyIndexTable, range)) {
    tx.delete(historyIndexTable, chunk.key)
    if (chunk.value.length > 8) tx.put(historyIndexTable, openKey, chunk.value.subarray(0, -8))
  }
}

/** Returns whether the index has a block among those that changed a row. */
export function isIndexed(reader: KvReader, table: number, key: Uint8Array, number: number): boolean {
  return firstIndexed(reader, indexPrefix(table, key), number - 1) === number
}

/** Returns the first block after a number that the index of schema 5 has for a row. */
function firstIndexed(reader: KvReader, prefix: Uint8Array, after: number): number | undefined {
  const range = { from: concatBytes(prefix, u64Bytes(after + 1)), to: concatBytes(prefix, openEnd, Uint8Array.of(0)), limit: 1 }
  for (const { value: numbers } of reader.range(historyIndexTable, range)) return firstAbove(numbers, after)
  return undefined
}

/** Rows as of a block: each row has the value before its first change after the block, or else the latest value. */
export class HistoricalRows implements StateRows {
  readonly #reader: KvReader
  readonly #number: number
  readonly #head: number
  /** The last block in the index of schema 5. */
  readonly #indexed: number
  /** Whether later blocks have runs. */
  readonly #hasRuns: boolean
  /** The last block whose node changes are in the table of changes. */
  readonly #nodes: number
  readonly #cache: HistoryCache

  constructor(reader: KvReader, number: number, head: number, cache: HistoryCache) {
    this.#reader = reader
    this.#cache = cache
    this.#number = number
    this.#head = head
    const { runs, indexed = 0, nodes = head } = cache.marks(reader)
    this.#hasRuns = runs !== undefined
    this.#indexed = runs ?? indexed
    this.#nodes = nodes
  }

  get(table: number, key: Uint8Array): Uint8Array | undefined {
    const next = this.#cache.changesAfter(this.#reader, this.#number)
    const place = placeOf(table, key)
    const change = next?.get(place)
    if (change) return decodeBefore(change)
    const number = next ? this.#number + 1 : this.#number
    return this.#cache.rowAt(place, number, () => this.#find(table, key, number))
  }

  /** Reads the value of a row after a block. */
  #find(table: number, key: Uint8Array, low: number): RowSpan {
    const found = this.#firstChange(table, key, low)
    return found
      ? { low, high: found.number, row: decodeBefore(found.change) }
      : { low, high: Number.POSITIVE_INFINITY, row: this.#reader.get(table, key) }
  }

  node<T>(table: number, key: Uint8Array, hash: Uint8Array, use: (rlp: Uint8Array) => T): T | undefined {
    return this.#reader.look(table, key, (latest) => (equalBytes(keccak256(latest), hash) ? use(latest) : undefined))
  }

  replacedNode(table: number, key: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const nodes = this.#nodes
    const change = this.#number < nodes ? this.#firstChange(table, key, this.#number, nodes) : undefined
    if (change) return decodeBefore(change.change)
    const row = this.#nodeRowAfter(Math.max(this.#number, nodes), table, key)
    return row && equalBytes(keccak256(row), hash) ? row : undefined
  }

  nodeRow(table: number, key: Uint8Array): Uint8Array | undefined {
    return this.#nodeRowAfter(this.#number, table, key)
  }

  #nodeRowAfter(number: number, table: number, key: Uint8Array): Uint8Array | undefined {
    return rowBefore(this.#imagesAfter(number, table, key), () => this.#reader.get(table, key))
  }

  /** Iterates over the images of a node in the blocks after `number`, ascending. */
  *#imagesAfter(number: number, table: number, key: Uint8Array): Generator<NodeImage> {
    const rows = { reader: this.#reader, tail: this.#cache }
    for (const { from, to, digest } of this.#cache.digests(this.#reader).spans(number + 1, this.#head))
      yield* imagesIn(rows, { from, to, head: this.#head }, digest.node(table, key))
  }

  latestKeys(table: number, from: Uint8Array, to: Uint8Array | undefined, limit: number): Iterable<Uint8Array> {
    return this.#reader.keys(table, { from, to, limit })
  }

  *range(table: number, from: Uint8Array, to: Uint8Array | undefined): Generator<Row> {
    for (const key of this.#keys(table, from, to)) {
      const value = this.get(table, key)
      if (value !== undefined) yield { key, value }
    }
  }

  /** Returns all keys that existed at any time since the block. */
  #keys(table: number, from: Uint8Array, to: Uint8Array | undefined): Uint8Array[] {
    const keys = new Map<string, Uint8Array>()
    const add = (key: Uint8Array): void => void keys.set(latin1(key), key)
    const id = Uint8Array.of(table)
    for (const key of this.#reader.keys(table, { from, to })) add(key)
    const end = to ? concatBytes(id, to) : Uint8Array.of(table + 1)
    if (this.#number < this.#indexed) {
      for (const key of this.#reader.keys(historyIndexTable, { from: concatBytes(id, from), to: end })) add(key.slice(1, -8))
    }
    const unindexed = Math.max(this.#number, this.#indexed)
    if (this.#hasRuns) for (const key of deletedKeys(this.#reader, table, { from, to }, unindexed)) add(key)
    for (let number = unindexed + 1; !this.#hasRuns && number <= this.#head; number++) {
      const last = to ? changeKey(number, table, to) : changeKey(number, table + 1, new Uint8Array())
      for (const key of this.#reader.keys(changesTable, { from: changeKey(number, table, from), to: last })) add(key.subarray(9))
    }
    return [...keys.values()].sort(compareBytes)
  }

  /** Returns the first change of a row after block `after`, at most in block `upTo`. */
  #firstChange(table: number, key: Uint8Array, after: number, upTo: number = this.#head): FoundChange | undefined {
    const number = after < this.#indexed ? firstIndexed(this.#reader, indexPrefix(table, key), after) : undefined
    if (number !== undefined) return this.#changeIn(number, table, key)
    const unindexed = Math.max(after, this.#indexed)
    if (unindexed >= upTo) return undefined
    if (this.#hasRuns) {
      const digests = this.#cache.digests(this.#reader)
      return firstChangeFrom(this.#reader, digests, { table, key }, { from: unindexed + 1, head: this.#head })
    }
    for (let later = unindexed + 1; later <= upTo; later++) {
      const change = this.#changeIn(later, table, key)
      if (change) return change
    }
    return undefined
  }

  #changeIn(number: number, table: number, key: Uint8Array): FoundChange | undefined {
    const change = this.#reader.get(changesTable, changeKey(number, table, key))
    return change && { number, change }
  }
}
