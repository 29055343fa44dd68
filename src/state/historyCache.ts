import { BoundedMap } from '#lib/boundedMap'
import { latin1, u64Bytes } from '#lib/bytes'
import { lazy } from '#lib/lazy'
import { Lru } from '#lib/lru'
import type { KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { type Digests, readDigests } from './digests/digests.ts'
import { changesTable, readMarks, type StateMarks } from './rows.ts'

/**
 * Number of consecutive reads of one state after which all changes of the next block are loaded at once. So many reads mean that the caller executes
 * that block again.
 */
const readsBeforeLoading = 256
/** Number of searches for old trie nodes in a group of blocks before an index of the group is computed, which takes about as long. */
const nodesBeforeIndex = 1_000
/** Estimated memory of a loaded row in addition to its bytes. */
const loadedRowBytes = 300

/**
 * Returns the previous values of the rows that a block changed, by table and key in latin-1.
 * @returns undefined when they exceed a number of bytes
 */
function changesIn(
  reader: KvReader,
  number: number,
  maxBytes: number,
): { readonly changes: ReadonlyMap<string, Uint8Array>; readonly bytes: number } | undefined {
  const changes = new Map<string, Uint8Array>()
  let loadedBytes = 0
  for (const { key, value } of reader.range(changesTable, { from: u64Bytes(number), to: u64Bytes(number + 1) })) {
    changes.set(latin1(key.subarray(8)), value)
    loadedBytes += loadedRowBytes + key.length + value.length
    if (loadedBytes > maxBytes) return undefined
  }
  return { changes, bytes: loadedBytes }
}

/** Value of a row after the blocks from `low` to below `high`; undefined: there is no row. */
export type RowSpan = { readonly low: number; readonly high: number; readonly row: Uint8Array | undefined }

/** Bound of the values of one row that are cached; beyond it they are collected again. */
const maxSpans = 64
/** Groups of blocks of which the searches for nodes are counted. */
const maxGroups = 64
/** Estimated memory of a span in addition to its bytes, and of an entry of a cache. */
const [spanBytes, entryBytes] = [100, 250]

/** Creates a part of the cache of old states of a thread. @param share of its bytes */
export type HistoryPart = <V>(share: number) => Lru<string, V>

/** Caches for reads of old states, shared by all snapshots of a thread. */
export type HistoryCaches = {
  /** changes of a block: more than half of the bytes are not loaded */
  readonly blocks: Lru<string, ReadonlyMap<string, Uint8Array>>
  /** values of a row, ascending; by its prefix in the index, in latin-1 */
  readonly rows: Lru<string, readonly RowSpan[]>
  /** node changes of recent blocks, and their indices */
  readonly nodeRows: Lru<string, Uint8Array>
  /** number of searches for nodes in each group of blocks without an index */
  readonly nodeReads: BoundedMap<string, number>
  readonly chain: LastChain
}

/** Committed blocks of a snapshot: the last one, and the hashes of those below. */
export type CommittedBlocks = { readonly head: BlockId; readonly hashAt: (number: number) => Hash | undefined }

/** Chain of the last named snapshot of a thread. All snapshots with one name are on one chain: each has the head of the one before. */
class LastChain {
  #head: BlockId | undefined
  #order = 0
  #number = 0

  /**
   * Returns the name of the chain of a snapshot: that of the last one if its head is among the blocks, a new one otherwise. Undefined for a snapshot
   * that is older than the last one and has fewer blocks: it gets no later ones.
   * @param order of the snapshots of the thread
   */
  nameOf({ head, hashAt }: CommittedBlocks, order: number): string | undefined {
    const last = this.#head
    const isShorter = last !== undefined && head.number < last.number
    if (isShorter && order < this.#order) return undefined
    if (isShorter || (last?.hash !== head.hash && (last === undefined || hashAt(last.number) !== last.hash))) this.#number++
    this.#head = head
    this.#order = order
    return `chain ${this.#number}:`
  }
}

export function createHistoryCaches(part: HistoryPart): HistoryCaches {
  return { blocks: part(0.3), rows: part(0.1), nodeRows: part(0.6), nodeReads: new BoundedMap(maxGroups), chain: new LastChain() }
}

/** Bytes of the caches of a thread without a budget. */
const usualBytes = 28 * 2 ** 20
/** Caches of this thread if it has no budget. */
const usualCaches = lazy(() => createHistoryCaches((share) => new Lru(usualBytes * share)))

let snapshots = 0

/** Results of reads of old states that later reads use again. The states on one snapshot share them, since another snapshot may have other values. */
export class HistoryCache {
  readonly #caches: HistoryCaches
  /** Prefix of this snapshot's cache keys. */
  readonly #name: string
  /** Prefix of the cache keys of node changes. All snapshots of one chain share them: parts added to a partial state are no node changes. */
  readonly #chain: () => string
  /** Block whose state was read last. */
  #number = -1
  /** Cache key of the block after it. */
  #next = ''
  /** Consecutive reads of its state. */
  #reads = 0
  #marks: StateMarks | undefined
  #digests: Digests | undefined
  /** Keys of cached node rows, of the chain and recorded, by block. */
  readonly #rowNames = new Map<number, string>()
  readonly #recordedNames = new Map<number, string>()

  /** @param blocks of the snapshot; absent: no other snapshot shares its node changes */
  constructor(caches: HistoryCaches = usualCaches(), blocks?: CommittedBlocks) {
    this.#caches = caches
    const order = ++snapshots
    this.#name = `${order}:`
    // rows of blocks up to the mark are moved to their places later; another database of the chain has other digests
    this.#chain = lazy(
      () => `${(blocks && caches.chain.nameOf(blocks, order)) ?? this.#name}${this.#marks?.nodes ?? ''}:${this.#digests?.name ?? ''}:`,
    )
  }

  /** Returns the marks of the snapshot, which are read once. */
  marks(reader: KvReader): StateMarks {
    this.#marks ??= readMarks(reader)
    return this.#marks
  }

  /** Returns the digests of the snapshot, which are read once. */
  digests(reader: KvReader): Digests {
    this.#digests ??= readDigests(reader)
    return this.#digests
  }

  /** Counts a read of the state after a block. @returns the changes of the next block, if they are loaded */
  changesAfter(reader: KvReader, number: number): ReadonlyMap<string, Uint8Array> | undefined {
    if (number !== this.#number) {
      this.#number = number
      this.#next = `${this.#name}${number + 1}`
      this.#reads = 0
    }
    const { blocks } = this.#caches
    const known = blocks.get(this.#next)
    if (known || ++this.#reads !== readsBeforeLoading) return known
    const loaded = changesIn(reader, number + 1, blocks.facts().maxBytes / 2)
    if (loaded) blocks.set(this.#next, loaded.changes, loaded.bytes)
    return loaded?.changes
  }

  /**
   * Returns the value of a row after a block.
   * @param place the row's prefix in the index, in latin-1
   * @param find reads it from the store
   */
  rowAt(place: string, number: number, find: () => RowSpan): Uint8Array | undefined {
    const name = this.#name + place
    const { rows } = this.#caches
    const known = rows.get(name)
    const at = known ? spansUpTo(known, number) : 0
    const span = known?.[at - 1]
    if (span && number < span.high) return span.row
    const found = find()
    const spans = known && known.length < maxSpans ? withSpan(known, at, found) : [found]
    rows.set(name, spans, entryBytes + name.length + spans.reduce((sum, { row }) => sum + spanBytes + (row?.length ?? 0), 0))
    return found.row
  }

  /** Returns a block's row of node changes. @param read reads it from the store */
  row(number: number, read: () => Uint8Array): Uint8Array {
    return this.#nodeRow(this.#nameIn(this.#rowNames, '', number), read)
  }

  /** Returns a block's row of recorded node changes. @param read reads it from the store */
  recorded(number: number, read: () => Uint8Array | undefined): Uint8Array | undefined {
    return this.#nodeRow(this.#nameIn(this.#recordedNames, 'p', number), read)
  }

  /** Returns the stored index of the node changes of a segment. @param read reads it from the store */
  segmentIndex(segment: number, read: () => Uint8Array | undefined): Uint8Array | undefined {
    return this.#nodeRow(`${this.#chain()}s${segment}`, read)
  }

  /** Returns the index of the node changes of a group of blocks, once it was searched many times. @param compute makes it of the rows of its blocks */
  groupIndex(group: number, compute: () => Uint8Array): Uint8Array | undefined {
    const { nodeRows, nodeReads } = this.#caches
    const name = `${this.#chain()}g${group}`
    const known = nodeRows.get(name)
    if (known) return known
    const reads = (nodeReads.get(name) ?? 0) + 1
    nodeReads.set(name, reads)
    return reads > nodesBeforeIndex ? this.#nodeRow(name, compute) : undefined
  }

  #nameIn(names: Map<number, string>, kind: string, number: number): string {
    let name = names.get(number)
    if (name === undefined) {
      name = `${this.#chain()}${kind}${number}`
      names.set(number, name)
    }
    return name
  }

  #nodeRow<T extends Uint8Array | undefined>(name: string, read: () => T): Uint8Array | T {
    const { nodeRows } = this.#caches
    const known = nodeRows.get(name)
    if (known) return known
    const row = read()
    if (row) nodeRows.set(name, row, entryBytes + row.length)
    return row
  }
}

/** Returns the number of spans that begin at or below a block. */
function spansUpTo(spans: readonly RowSpan[], number: number): number {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle] as RowSpan).low <= number) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns spans with one more at a position. It replaces the next one if that ends with the same change. */
function withSpan(spans: readonly RowSpan[], at: number, span: RowSpan): readonly RowSpan[] {
  const isSame = spans[at]?.high === span.high
  return [...spans.slice(0, at), span, ...spans.slice(isSame ? at + 1 : at)]
}
