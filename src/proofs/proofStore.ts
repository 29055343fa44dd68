import { u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { dropDeletion, markDeleted } from '#state/changeIndex'
import { readDigests } from '#state/digests/digests'
import type { RowChange } from '#state/history'
import { blockRowKey } from '#state/nodeHistory'
import { digestsIn, onlyChildrenIn } from '#state/nodeRow'
import { RunIndex } from '#state/runIndex'
import type { KvReader, KvWriter } from '#store/ports'
import { proofsTables } from '#store/tables'
import type { BlockId } from '#types/blockRef'
import { nextBase, positionIn, type Region, readRegions, writeRegions } from './regions.ts'
import { encodeValues, valuesIn } from './valueRow.ts'

const runs = { fanOut: 16, levels: 4 } as const
const valueIndexIn = (kind: number): RunIndex => new RunIndex({ table: proofsTables.historyIndex.id, kind, ...runs, sliceBlocks: 16 })
/** The hint of a changed node is its only changed child, as of `onlyChildrenIn`. There are twice as many nodes as values, and a read copies a slice. */
const nodeIndexIn = (kind: number): RunIndex =>
  new RunIndex({ table: proofsTables.nodeIndex.id, kind, ...runs, sliceBlocks: 4, hasHints: true })
const kinds = { up: 0x40, down: 0x50 } as const

/** Indices by digest of the row: over block numbers in ascending regions, over positions in descending ones. */
export const indices = {
  values: { up: valueIndexIn(kinds.up), down: valueIndexIn(kinds.down) },
  nodes: { up: nodeIndexIn(kinds.up), down: nodeIndexIn(kinds.down) },
} as const

/** What a block changed: accounts and slots before it, and the row of its trie nodes as of `nodeHistory.ts`; absent: it changed none. */
export type BlockChanges = {
  readonly id: BlockId
  readonly values: readonly RowChange[]
  /** those of `values` that have no row after the block */
  readonly deleted: readonly RowChange[]
  readonly nodes: Uint8Array | undefined
}

function putBlock(tx: KvWriter, changes: BlockChanges, side: 'up' | 'down', position: number): void {
  const { id, values, deleted, nodes } = changes
  tx.put(proofsTables.canonical.id, u64Bytes(id.number), fromHex(id.hash))
  if (values.length > 0) tx.put(proofsTables.values.id, u64Bytes(id.number), encodeValues(values))
  if (nodes) tx.put(proofsTables.nodeHistory.id, blockRowKey(id.number), nodes)
  for (const row of deleted) markDeleted(tx, row, id.number)
  const digest = readDigests(tx).at(id.number)
  const digests = values.map(({ key }) => digest.row(key))
  indices.values[side].write(tx, position, digests)
  if (nodes) indices.nodes[side].write(tx, position, digestsIn(nodes), onlyChildrenIn(nodes))
  else indices.nodes[side].write(tx, position, [])
}

/** Removes what a block changed, except its place in the indices. */
function dropChanges(tx: KvWriter, number: number): void {
  const key = u64Bytes(number)
  const values = tx.get(proofsTables.values.id, key)
  if (values) for (const row of valuesIn(values)) dropDeletion(tx, row, key)
  tx.delete(proofsTables.values.id, key)
  tx.delete(proofsTables.nodeHistory.id, blockRowKey(number))
}

/** Begins a region after a block, whose state is then the oldest that can be read without older regions. Later regions must not exist. */
export function beginRegion(tx: KvWriter, { number, hash }: BlockId): void {
  tx.put(proofsTables.canonical.id, u64Bytes(number), fromHex(hash))
  writeRegions(tx, [...readRegions(tx).filter(({ first, last }) => last >= first), { first: number + 1, last: number }])
}

/** Adds the block after the last one. Throws RangeError for another number. */
export function addNewer(tx: KvWriter, changes: BlockChanges): void {
  const regions = readRegions(tx)
  const last = regions.at(-1)
  const { number } = changes.id
  if (last?.last !== number - 1) throw new RangeError(`block ${number} after block ${last?.last}`)
  putBlock(tx, changes, 'up', number)
  // a region in descending order ends where it began
  const isUp = last.base === undefined
  writeRegions(tx, isUp ? [...regions.slice(0, -1), { ...last, last: number }] : [...regions, { first: number, last: number }])
}

/**
 * Adds the block before a region.
 * @param region one of the recorded ones; the block is its `first - 1`
 * @param parent of the block
 */
export function addOlder(tx: KvWriter, region: Region, changes: BlockChanges, parent: BlockId): void {
  const regions = readRegions(tx)
  const at = regions.findIndex(({ first, last }) => first === region.first && last === region.last)
  const { number } = changes.id
  if (at < 0 || number !== region.first - 1) throw new RangeError(`block ${number} before block ${region.first}`)
  // the positions below a region that was cut are taken
  const isNewest = region.base !== undefined && region.lowest === undefined && regions.every(({ base = 0 }) => base <= (region.base ?? 0))
  const own = isNewest ? { ...region, first: number } : { first: number, last: number, base: nextBase(regions) }
  const position = positionIn(own, number)
  putBlock(tx, changes, 'down', position)
  for (const { down } of Object.values(indices)) down.dropMerged(tx, position)
  tx.put(proofsTables.canonical.id, u64Bytes(parent.number), fromHex(parent.hash))
  writeRegions(tx, [...regions.slice(0, at), own, ...regions.slice(isNewest ? at + 1 : at)])
}

const mergedKey = new TextEncoder().encode('proofs.merged')

/**
 * Removes rows of the indices that larger runs have replaced. Reads of a region find the larger ones, those of an older region do not, so only rows inside of
 * one region are removed.
 * @param upTo last block of the largest of those runs
 * @param hasTime called after each block; false ends the work until the next call
 */
export function dropMerged(tx: KvWriter, upTo: number, hasTime: () => boolean): void {
  const before = readMerged(tx)
  let number = before
  for (const { first, last, base } of readRegions(tx)) {
    if (base !== undefined || last < first) continue
    for (let next = Math.max(number + 1, first); next <= Math.min(upTo, last); next++) {
      if (number > before && !hasTime()) break
      for (const { up } of Object.values(indices)) up.dropMerged(tx, next, first)
      number = next
    }
  }
  if (number > before) tx.put(proofsTables.meta.id, mergedKey, u64Bytes(number))
}

/** Returns the last block of `dropMerged`. */
function readMerged(reader: KvReader): number {
  const mark = reader.get(proofsTables.meta.id, mergedKey)
  return mark ? u64FromBytes(mark) : 0
}

/** Removes the last block. @returns false when no block is left */
export function dropNewest(tx: KvWriter): boolean {
  const regions = readRegions(tx)
  const last = regions.at(-1)
  if (last === undefined) return false
  const rest = regions.slice(0, -1)
  if (last.first > last.last) {
    const isJoined = rest.at(-1)?.last === last.last
    writeRegions(tx, rest)
    if (!isJoined) tx.delete(proofsTables.canonical.id, u64Bytes(last.last))
    return rest.length > 0
  }
  dropChanges(tx, last.last)
  tx.delete(proofsTables.canonical.id, u64Bytes(last.last))
  const isMerged = last.last <= readMerged(tx)
  if (isMerged) tx.put(proofsTables.meta.id, mergedKey, u64Bytes(last.last - 1))
  if (last.base === undefined) {
    for (const { up } of Object.values(indices)) up.drop(tx, last.last, isMerged)
    writeRegions(tx, [...rest, { ...last, last: last.last - 1 }])
    return true
  }
  // the first position of a descending region: later blocks have the positions after it, so it moves to a region of its own that is empty
  const left = { ...last, last: last.last - 1, base: last.base + 1 }
  writeRegions(tx, left.first > left.last ? [...rest, { first: last.first, last: last.first - 1 }] : [...rest, left])
  return true
}

/** Blocks whose rows are removed at most in one call. */
const dropsAtOnce = 64
/** Above every position. */
const everyPosition = 2 ** 48

/**
 * Removes the blocks that only states before one need, oldest first, inside a transaction. Those states cannot be read from then on.
 * @param oldest block whose state is kept, at most the last recorded one
 * @param hasTime called after every few rows; false ends the work
 * @returns the number of removed blocks, and whether nothing is left to remove
 */
export function pruneBlocks(tx: KvWriter, oldest: number, hasTime: () => boolean): { readonly blocks: number; readonly isDone: boolean } {
  const regions = readRegions(tx)
  const kept = regions.flatMap((region) => (region.last <= oldest && region !== regions.at(-1) ? [] : [cut(region, oldest)]))
  if (kept.length < regions.length || kept.some((region, i) => region !== regions[i])) writeRegions(tx, kept)
  let blocks = 0
  const numbers = prunable(tx, oldest, dropsAtOnce)
  for (const number of numbers) {
    dropChanges(tx, number)
    if (number < oldest) tx.delete(proofsTables.canonical.id, u64Bytes(number))
    blocks++
    if (!hasTime()) return { blocks, isDone: false }
  }
  if (numbers.length === dropsAtOnce) return { blocks, isDone: false }
  const isDone = Object.values(indices).every(({ up, down }) => {
    const isDownUsed = kept.some(({ base }) => base !== undefined)
    return up.prune(tx, oldest, hasTime) && (isDownUsed || down.prune(tx, everyPosition, hasTime))
  })
  return { blocks, isDone }
}

/** Returns the first blocks to remove: those up to `oldest`, whose hash stays. */
function prunable(reader: KvReader, oldest: number, limit: number): number[] {
  const numbers = Array.from(reader.keys(proofsTables.canonical.id, { to: u64Bytes(oldest + 1), limit }), u64FromBytes)
  return numbers.filter((number) => number < oldest || hasValues(reader, oldest))
}

const hasValues = (reader: KvReader, number: number): boolean => reader.look(proofsTables.values.id, u64Bytes(number), () => true) ?? false

/** Returns whether `pruneBlocks` has blocks to remove. */
export const isPruned = (reader: KvReader, oldest: number): boolean => prunable(reader, oldest, 2).length === 0

/** Returns the number of blocks that an unfinished `pruneBlocks` has still to remove. */
export function leftToPrune(reader: KvReader): number {
  const [oldest] = Array.from(reader.keys(proofsTables.canonical.id, { limit: 1 }), u64FromBytes)
  const region = readRegions(reader)[0]
  if (oldest === undefined || region === undefined) return 0
  const kept = region.first - 1
  return Math.max(0, kept - oldest) + (hasValues(reader, kept) ? 1 : 0)
}

/** Returns the rest of a region without the blocks up to `oldest`. */
function cut(region: Region, oldest: number): Region {
  if (region.first > oldest) return region
  if (oldest >= region.last) return { first: region.last + 1, last: region.last }
  return { ...region, first: oldest + 1, ...(region.base !== undefined && { lowest: region.lowest ?? region.first }) }
}
