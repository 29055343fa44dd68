import { latin1, u64Bytes } from '#lib/bytes'
import { Lru } from '#lib/lru'
import type { KvReader } from '#store/ports'
import { changesTable } from './rows.ts'

/**
 * Number of consecutive reads of one state after which all changes of the next block are loaded at once. So many reads mean that the caller executes
 * that block again.
 */
const readsBeforeLoading = 256
const maxLoadedBytes = 8 * 2 ** 20
/** Bound of the loaded changes of all blocks. */
const maxAllLoadedBytes = 2 * maxLoadedBytes
/** Estimated memory of a loaded row in addition to its bytes. */
const loadedRowBytes = 300

/**
 * Returns the previous values of the rows that a block changed, by table and key in latin-1.
 * @returns undefined when they exceed `maxLoadedBytes`
 */
function changesIn(
  reader: KvReader,
  number: number,
): { readonly changes: ReadonlyMap<string, Uint8Array>; readonly bytes: number } | undefined {
  const changes = new Map<string, Uint8Array>()
  let loadedBytes = 0
  for (const { key, value } of reader.range(changesTable, { from: u64Bytes(number), to: u64Bytes(number + 1) })) {
    changes.set(latin1(key.subarray(8)), value)
    loadedBytes += loadedRowBytes + key.length + value.length
    if (loadedBytes > maxLoadedBytes) return undefined
  }
  return { changes, bytes: loadedBytes }
}

/** Part of the history index of a row: it names the first change after each of the blocks from `low` to below `high`. */
export type IndexChunk = { readonly low: number; readonly high: number; readonly numbers: Uint8Array }

/** Bound of the chunks, and the estimated memory of one in addition to its bytes. */
const maxChunkBytes = 4 * 2 ** 20
const chunkBytes = 250

/** Bound of the rows of node changes: those of the blocks that no segment covers, and more. */
const maxNodeRowBytes = 8 * 2 ** 20

/** Results of reads of old states that later reads use again. The states on one snapshot share them. */
export class HistoryCache {
  readonly #blocks = new Lru<number, ReadonlyMap<string, Uint8Array>>(maxAllLoadedBytes)
  /** By the row's prefix in the index, in latin-1. */
  readonly #chunks = new Lru<string, IndexChunk>(maxChunkBytes)
  readonly #nodeRows = new Lru<number, Uint8Array>(maxNodeRowBytes)
  /** Block whose state was read last, and the number of reads since another one was read. */
  #number = -1
  #reads = 0

  /** Counts a read of the state after a block. @returns the changes of the next block, if they are loaded */
  changesAfter(reader: KvReader, number: number): ReadonlyMap<string, Uint8Array> | undefined {
    if (number !== this.#number) this.#reads = 0
    this.#number = number
    if (++this.#reads === readsBeforeLoading) this.#load(reader, number + 1)
    return this.#blocks.get(number + 1)
  }

  #load(reader: KvReader, number: number): void {
    const loaded = this.#blocks.get(number) ? undefined : changesIn(reader, number)
    if (loaded) this.#blocks.set(number, loaded.changes, loaded.bytes)
  }

  /**
   * Returns the part of the index that names the first change of a row after a block.
   * @param find reads it from the store
   */
  chunk(prefix: Uint8Array, after: number, find: () => IndexChunk): Uint8Array {
    const name = latin1(prefix)
    const known = this.#chunks.get(name)
    if (known && known.low <= after && after < known.high) return known.numbers
    const found = find()
    this.#chunks.set(name, found, chunkBytes + prefix.length + found.numbers.length)
    return found.numbers
  }

  /** Returns a block's row of node changes. @param read reads it from the store */
  row(number: number, read: () => Uint8Array): Uint8Array {
    const known = this.#nodeRows.get(number)
    if (known) return known
    const row = read()
    this.#nodeRows.set(number, row, chunkBytes + row.length)
    return row
  }
}
