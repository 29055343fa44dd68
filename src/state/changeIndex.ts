import { concatBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { type Digest, type Digests, readDigests } from './digests/digests.ts'
import { changeKey, changesTable, decodeBefore, historyIndexTable as table } from './rows.ts'
import { RunIndex } from './runIndex.ts'

/*
 * Index of the blocks that changed accounts and slots: runs of the digests of their keys, and marks of deleted rows.
 *   run        as of `runIndex.ts`, kind 0x40. The runs of the highest level have 65,536 blocks
 *   deletion   0x60 ++ table id u8 ++ key ++ number u64 → nothing: the block deleted the row. A range of an old state finds its key here
 * A read checks each block that it finds: a digest that two rows share costs it one more read (`digests/digests.ts`).
 */
const kinds = { run: 0x40, deletion: 0x60 } as const
const runs = new RunIndex({ table, kind: kinds.run, fanOut: 4, levels: 8, sliceBlocks: 1 })
const nothing = new Uint8Array(0)
/** Above every block number. */
const lastNumber = new Uint8Array(8).fill(0xff)

/** @param number of a block, u64 */
function deletionKey({ table: rowTable, key }: RowPlace, number: Uint8Array): Uint8Array {
  const out = new Uint8Array(key.length + 10)
  out[0] = kinds.deletion
  out[1] = rowTable
  out.set(key, 2)
  out.set(number, key.length + 2)
  return out
}

/** A row of an account or a slot. */
export type RowPlace = { readonly table: number; readonly key: Uint8Array }

/** Rows that one block changes, collected to be written as its run. */
export class ChangedRows {
  readonly #number: number
  readonly #digest: Digest
  readonly #digests: number[] = []

  /** @param digest of the block */
  constructor(number: number, digest: Digest) {
    this.#number = number
    this.#digest = digest
  }

  /** Adds a row, each once. @param isDeleted whether there is no row after the block */
  add(tx: KvWriter, row: RowPlace, isDeleted: boolean): void {
    this.#digests.push(this.#digest.row(row.key))
    if (isDeleted) markDeleted(tx, row, this.#number)
  }

  /** Writes the block's run, and the slices that are merged with this block. */
  writeTo(tx: KvWriter): void {
    runs.write(tx, this.#number, this.#digests)
  }
}

/** Marks that a block deleted a row. */
export function markDeleted(tx: KvWriter, row: RowPlace, number: number): void {
  tx.put(table, deletionKey(row, u64Bytes(number)), nothing)
}

/**
 * Returns the keys of slices written with a block that differ from its changed rows or from the runs below. Blocks up to `oldest` are not compared.
 * @param rows that the block changed
 */
export function damagedSlices(reader: KvReader, number: number, rows: readonly RowPlace[], oldest: number): Uint8Array[] {
  const digest = readDigests(reader).at(number)
  const digests = rows.map(({ key }) => digest.row(key))
  return runs.damaged(reader, number, digests, oldest)
}

/** Returns whether a block has a mark that it deleted a row. */
export function isMarkedDeleted(reader: KvReader, row: RowPlace, number: number): boolean {
  return reader.look(table, deletionKey(row, u64Bytes(number)), () => true) ?? false
}

/** Returns whether a row of the index with a key like this may exist. @param head the last block */
export function mayExist(reader: KvReader, key: Uint8Array, head: number): boolean {
  if (key[0] !== kinds.deletion) return runs.mayExist(key, head)
  const change = concatBytes(key.subarray(-8), key.subarray(1, -8))
  return reader.look(changesTable, change, (before) => decodeBefore(before) !== undefined) ?? false
}

/** The first key of runs and deletions; rows of schema 5 are below it. */
export const firstRunKey: Uint8Array = Uint8Array.of(kinds.run)

/** Removes a block that is unwound. @param rows that it changed */
export function dropChangedRows(tx: KvWriter, number: number, rows: readonly RowPlace[]): void {
  runs.drop(tx, number)
  for (const row of rows) dropDeletion(tx, row, u64Bytes(number))
}

/** Removes the mark that a block deleted a row, if there is one. @param number of the block, u64 */
export function dropDeletion(tx: KvWriter, row: RowPlace, number: Uint8Array): void {
  const key = deletionKey(row, number)
  if (tx.peek(table, key, () => true)) tx.delete(table, key)
}

/** Removes the runs that end at or below `last`, as `RunIndex.prune` does. */
export const pruneRuns = (tx: KvWriter, last: number, hasTime: () => boolean): boolean => runs.prune(tx, last, hasTime)

/** Number of a block that changed a row, and the record of the change. */
export type FoundChange = { readonly number: number; readonly change: Uint8Array }

/**
 * Returns the first change of a row in the blocks from `from` to `head`; undefined when there is none.
 * @param digests of the database
 * @param head the last block
 */
export function firstChangeFrom(
  reader: KvReader,
  digests: Digests,
  row: RowPlace,
  { from, head }: { readonly from: number; readonly head: number },
): FoundChange | undefined {
  for (const span of digests.spans(from, head)) {
    for (const number of runs.blocksUp(reader, span.digest.row(row.key), { from: span.from, to: span.to, head })) {
      const change = reader.get(changesTable, changeKey(number, row.table, row.key))
      if (change) return { number, change }
    }
  }
  return undefined
}

/** Iterates over the keys of rows that blocks after `number` deleted, with from ≤ key < to, each once. */
export function* deletedKeys(
  reader: KvReader,
  rowTable: number,
  range: { readonly from: Uint8Array; readonly to: Uint8Array | undefined },
  number: number,
): Generator<Uint8Array> {
  const prefix = Uint8Array.of(kinds.deletion, rowTable)
  const to = range.to ? concatBytes(prefix, range.to) : Uint8Array.of(kinds.deletion, rowTable + 1)
  const numberAfter = u64Bytes(number + 1)
  for (let from = concatBytes(prefix, range.from); ; ) {
    const [mark] = reader.keys(table, { from, to, limit: 1 })
    if (mark === undefined) return
    const place = mark.slice(0, -8)
    if (u64FromBytes(mark.subarray(-8)) > number) {
      yield place.subarray(2)
      // past the other marks of the row, of which there may be one for each block
      from = concatBytes(place, lastNumber)
    } else from = concatBytes(place, numberAfter)
  }
}
