import { concatBytes, emptyBytes, equalBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import { branchDelta, OlderBranch } from '#trie/branchDelta'
import type { Digest } from './digests/digests.ts'
import { digestsIn, encodeNodeRow, imageIn, isNodeRowWhole, lowerBound, type NodeEntry, type NodeImage, sharedImageIn } from './nodeRow.ts'

/*
 * Trie nodes before each block that changed them. Rows are appended, and nothing is written at a node's own place: a block's nodes are at places without
 * order, and a row for each would cost more than the nodes themselves.
 *   block    0x00 ++ number u64 → the nodes that it changed, as of `nodeRow.ts`
 *   segment  0x01 ++ number u64 / 64 → digest's upper u32 ++ block u8, ascending, of all nodes of 64 blocks; an index, written with the last of them
 */
const table: number = tables.nodeHistory.id
const kinds = { block: 0, segment: 1 } as const

/** Blocks of a segment. A search reads one row per segment, and one per block that no segment covers. */
const segmentBlocks = 64
/** Blocks below the head whose rows and indices are read through a cache: a read of the store copies the whole row. */
const recentBlocks = 128
/** Blocks of a group: reads have an index of it while the store has none of its segment. */
const groupBlocks = 8
const segmentEntryBytes = 5
/**
 * Bytes of whole images for each change of a node. A read needs deltas up to a whole image, or until they have all children: a large node has more
 * children, and is stored whole in fewer of its changes.
 */
const wholeBytesPerChange = 5
const lowBits = 16

const rowKey = (kind: number, number: number): Uint8Array => concatBytes(Uint8Array.of(kind), u64Bytes(number))
/** Returns the key of a block's row. */
export const blockRowKey = (number: number): Uint8Array => rowKey(kinds.block, number)
const segmentOf = (number: number): number => Math.floor(number / segmentBlocks)

/** Returns the part of a node's digest that indices have. */
export const upperOf = (digest: number): number => Math.floor(digest / 2 ** lowBits)

/** Nodes that one block changes, collected to be written as its row. */
export class NodeChanges {
  readonly #number: number
  readonly #digest: Digest
  readonly #entries: NodeEntry[] = []

  /** @param digest of the block */
  constructor(number: number, digest: Digest) {
    this.#number = number
    this.#digest = digest
  }

  /** Adds a changed node, each at most once. @param before, after undefined: no row */
  add(nodeTable: number, key: Uint8Array, before: Uint8Array | undefined, after: Uint8Array | undefined): void {
    const digest = this.#digest.node(nodeTable, key)
    const isWhole = after === undefined || before === undefined || (this.#number + digest) % wholeEvery(before) === 0
    this.#entries.push({ digest, image: imageOf(before, isWhole ? undefined : after) })
  }

  /** Returns the block's row; undefined when the block changes no node. */
  encode(): Uint8Array | undefined {
    return this.#entries.length > 0 ? encodeNodeRow(this.#entries) : undefined
  }

  /** Writes the block's row, and the index of its segment when it is the segment's last block. */
  writeTo(tx: KvWriter): void {
    const row = this.encode()
    if (row) tx.put(table, blockRowKey(this.#number), row)
    if ((this.#number + 1) % segmentBlocks === 0) writeSegment(tx, segmentOf(this.#number))
  }
}

/** Nodes that a block changed, as an earlier version recorded them, to be written as the block's row after those of later blocks. */
export class MovedNodeChanges {
  readonly #number: number
  readonly #digest: Digest
  readonly #entries: NodeEntry[] = []

  /** @param digest of the block */
  constructor(number: number, digest: Digest) {
    this.#number = number
    this.#digest = digest
  }

  add(nodeTable: number, key: Uint8Array, before: Uint8Array | undefined): void {
    this.#entries.push({ digest: this.#digest.node(nodeTable, key), image: imageOf(before, undefined) })
  }

  /**
   * Writes the block's row. The index of its segment, which lacks the block, is dropped, and written again with the segment's first block.
   * @param first the first moved block with a row
   */
  writeTo(tx: KvWriter, { head, first }: { readonly head: number; readonly first: number }): void {
    if (this.#entries.length > 0) tx.put(table, blockRowKey(this.#number), encodeNodeRow(this.#entries))
    const bounds = segmentBounds(this.#number)
    const isFirst = this.#number === Math.max(bounds.first, first)
    if (isFirst && bounds.last <= head) writeSegment(tx, segmentOf(this.#number))
    else tx.delete(table, rowKey(kinds.segment, segmentOf(this.#number)))
  }
}

/** Of this many changes of a node, about one is stored whole. */
const wholeEvery = (before: Uint8Array): number => Math.max(1, Math.floor(before.length / wholeBytesPerChange))

/** Returns an image that does not share memory with the nodes, which may be lent by the store. */
function imageOf(before: Uint8Array | undefined, after: Uint8Array | undefined): NodeImage {
  if (before === undefined) return { kind: 'absent' }
  const delta = after && branchDelta(before, after)
  const isShort = delta && delta.length * 2 <= before.length
  return isShort ? { kind: 'delta', delta } : { kind: 'whole', rlp: before.slice() }
}

/** Writes the index of the blocks of a segment. */
function writeSegment(tx: KvWriter, segment: number): void {
  tx.put(table, rowKey(kinds.segment, segment), segmentRow(tx, segment))
}

/** Computes the index of a segment from the rows of its blocks. */
function segmentRow(reader: KvReader, segment: number): Uint8Array {
  return indexOf(reader, segment, 0, segmentBlocks)
}

/** Computes the index of some blocks of a segment. @param from, to numbers of blocks in the segment */
function indexOf(reader: KvReader, segment: number, from: number, to: number): Uint8Array {
  const found: number[] = []
  for (let block = from; block < to; block++) {
    reader.look(table, blockRowKey(segment * segmentBlocks + block), (row) => {
      for (const digest of digestsIn(row)) found.push(digest * segmentBlocks + block)
    })
  }
  const row = new Uint8Array(segmentEntryBytes * found.length)
  const view = new DataView(row.buffer)
  for (const [i, entry] of Float64Array.from(found).sort().entries()) {
    view.setUint32(segmentEntryBytes * i, Math.floor(entry / segmentBlocks))
    view.setUint8(segmentEntryBytes * i + 4, entry % segmentBlocks)
  }
  return row
}

/**
 * Returns the key of the index of a segment if the index is missing, or differs from the rows of its blocks after a block; undefined when it is right.
 * @param last the last block of the segment
 * @param pruned the last block whose row may be gone
 */
export function damagedSegment(reader: KvReader, last: number, pruned: number): Uint8Array | undefined {
  const segment = segmentOf(last)
  const expected = segmentRow(reader, segment)
  const key = rowKey(kinds.segment, segment)
  const isKept = (entry: number): boolean => segment * segmentBlocks + entry > pruned
  const isRight = reader.look(table, key, (row) => equalBytes(keptEntries(row, isKept), keptEntries(expected, isKept)))
  return isRight ? undefined : key
}

/** Returns the entries of a segment's index whose block, counted from the first one, is kept. */
function keptEntries(row: Uint8Array, isKept: (block: number) => boolean): Uint8Array {
  const kept: Uint8Array[] = []
  for (let at = 0; at < row.length; at += segmentEntryBytes) {
    const entry = row.subarray(at, at + segmentEntryBytes)
    if (entry.length < segmentEntryBytes || isKept(entry[segmentEntryBytes - 1] as number)) kept.push(entry)
  }
  return concatBytes(...kept)
}

/** Returns the first and the last block of the segment that contains a block. */
export const segmentBounds = (number: number): { readonly first: number; readonly last: number } => {
  const first = segmentOf(number) * segmentBlocks
  return { first, last: first + segmentBlocks - 1 }
}

/** Returns whether the row of a block is as `NodeChanges` writes it, or absent. */
export const isBlockRowWhole = (reader: KvReader, number: number): boolean =>
  reader.look(table, blockRowKey(number), isNodeRowWhole) ?? true

/** Removes the row of the last block, which is unwound, and the index of its segment. */
export function dropNodeChanges(tx: KvWriter, number: number): void {
  tx.delete(table, blockRowKey(number))
  tx.delete(table, rowKey(kinds.segment, segmentOf(number)))
}

/** Returns the first block with node changes; undefined: there is none. */
export const firstNodeChanges = (reader: KvReader): number | undefined => firstNumber(reader, kinds.block)

/** Returns the number in the first row of a kind. */
function firstNumber(reader: KvReader, kind: number): number | undefined {
  const [key] = reader.keys(table, { from: rowKey(kind, 0), to: Uint8Array.of(kind + 1), limit: 1 })
  return key && u64FromBytes(key.subarray(1))
}

/**
 * Removes the rows of blocks up to `last`, oldest first, and the indices of segments that have no later block.
 * @param hasTime called after each row; false ends the work
 * @returns whether nothing is left to remove
 */
export function pruneNodeChanges(tx: KvWriter, last: number, hasTime: () => boolean): boolean {
  for (const [kind, end] of [
    [kinds.block, last + 1],
    [kinds.segment, segmentOf(last + 1)],
  ] as const) {
    for (let number = firstNumber(tx, kind) ?? end; number < end; number++) {
      tx.delete(table, rowKey(kind, number))
      if (!hasTime()) return false
    }
  }
  return true
}

/** Returns the blocks from `first` on that may have changed a node, ascending. @param index of the segment of `first` */
function blocksIn(index: Uint8Array, first: number, digest: number): number[] {
  const count = index.length / segmentEntryBytes
  const upper = upperOf(digest)
  const keyAt = (i: number): number => u32At(index, segmentEntryBytes * i) * segmentBlocks + (index[segmentEntryBytes * i + 4] ?? 0)
  const start = segmentOf(first) * segmentBlocks
  const blocks: number[] = []
  for (let i = lowerBound(count, upper * segmentBlocks + first - start, keyAt); i < count; i++) {
    const key = keyAt(i)
    if (Math.floor(key / segmentBlocks) !== upper) break
    blocks.push(start + (key % segmentBlocks))
  }
  return blocks
}

/** Cache of the rows of recent blocks. */
export type NodeTail = {
  row(number: number, read: () => Uint8Array): Uint8Array
  /** Returns the index of a segment that the store has. */
  segmentIndex(segment: number, read: () => Uint8Array | undefined): Uint8Array | undefined
  /** Returns the index of a group of blocks; undefined until so many nodes are read that it is worth its computation. */
  groupIndex(group: number, compute: () => Uint8Array): Uint8Array | undefined
}

/** Store, and the cache of its recent rows. */
export type NodeRows = { readonly reader: KvReader; readonly tail: NodeTail }

/** Blocks that are searched: `from` to `to`, and the last one that the store has. */
export type NodeSpan = { readonly from: number; readonly to: number; readonly head: number }

/** Iterates over the images of a node in some blocks, ascending. @param digest of the node in these blocks */
export function* imagesIn(rows: NodeRows, { from, to, head }: NodeSpan, digest: number): Generator<NodeImage> {
  const { reader, tail } = rows
  for (let first = from; first <= to; first = segmentBounds(first).last + 1) {
    const { last } = segmentBounds(first)
    const key = rowKey(kinds.segment, segmentOf(first))
    const stored = last > head - recentBlocks ? undefined : reader.look(table, key, (index) => blocksIn(index, first, digest))
    for (const block of stored ?? recentBlocksWith(rows, first, head, digest)) {
      if (block > to) return
      const image = stored
        ? reader.look(table, blockRowKey(block), (row) => imageIn(row, digest))
        : sharedImageIn(
            tail.row(block, () => reader.get(table, blockRowKey(block)) ?? emptyBytes),
            digest,
          )
      if (image) yield image
    }
  }
}

/** Returns the blocks of the segment of `first`, from `first` to `head`, that may have changed a node. */
function recentBlocksWith({ reader, tail }: NodeRows, first: number, head: number, digest: number): readonly number[] {
  const segment = segmentOf(first)
  const { first: start, last } = segmentBounds(first)
  const whole = last <= head ? tail.segmentIndex(segment, () => reader.get(table, rowKey(kinds.segment, segment))) : undefined
  if (whole) return blocksIn(whole, first, digest)
  const blocks: number[] = []
  for (let from = first; from <= Math.min(last, head); ) {
    const group = Math.floor(from / groupBlocks)
    const next = (group + 1) * groupBlocks
    const compute = (): Uint8Array => indexOf(reader, segment, next - groupBlocks - start, next - start)
    const index = next - 1 <= head ? tail.groupIndex(group, compute) : undefined
    if (index) blocks.push(...blocksIn(index, from, digest))
    else for (let block = from; block < next && block <= head; block++) blocks.push(block)
    from = next
  }
  return blocks
}

/**
 * Returns the row of a node before the first of its images. Deltas are read until they have all children of the branch, or until a later image or the
 * latest row has the others.
 * @param images of the later blocks that changed the node, ascending
 * @param latest returns the row after the last of them
 * @param older what is known so far: nothing
 */
export function rowBefore(
  images: Iterable<NodeImage>,
  latest: () => Uint8Array | undefined,
  older: OlderBranch = new OlderBranch(),
): Uint8Array | undefined {
  for (const image of images) {
    if (image.kind === 'whole') return older.before(image.rlp)
    if (image.kind === 'absent') return undefined
    older.add(image.delta)
    const whole = older.whole()
    if (whole) return whole
  }
  const row = latest()
  return row && older.before(row)
}
