import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { fromHex } from '#lib/hex'
import type { Log } from '#lib/log'
import type { Kv, KvReader } from '#store/ports'
import { deleteSegment, readPruned, type SegmentRecord, segmentFileName, segmentsOf, writePruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { ChainDistance } from '#types/chainDistance'
import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { publishedNumber, readCanonicalHash, readHeads, readLocation, readTransactions } from '../chainStore.ts'
import { planLogPruning, pruneLogIndex, readLogsPruned } from '../logIndex/logIndex.ts'
import { blockBefore, oncePerFile } from '../pruning/retention.ts'

type Kept = ChainDistance | 'all'

/**
 * Rows of finalized blocks that are retained, counted back from the head, times by its timestamp. Receipts are removed with their bodies at the latest,
 * and the log index with its receipts: without them it is of no use. `leastBodies`: kept if `bodies` is shorter, counted back from the finalized block: at
 * a start derivation reads bodies below it; absent: none.
 */
export type RowRetention = { readonly bodies: Kept; readonly receipts: Kept; readonly logs: Kept; readonly leastBodies?: ChainDistance }

export const retainAllRows: RowRetention = { bodies: 'all', receipts: 'all', logs: 'all' }

/** Numbers of the oldest blocks whose rows are kept. */
type OldestRows = { readonly bodies: number; readonly receipts: number; readonly logs: number }

/** Returns the oldest blocks to keep. Blocks from the finalized one on are kept. */
export function oldestRows(
  reader: KvReader,
  { bodies, receipts, logs, leastBodies = { blocks: 0 } }: RowRetention,
  onDamaged?: (error: Fault) => void,
): OldestRows {
  const heads = readHeads(reader)
  if (heads === undefined) return { bodies: 0, receipts: 0, logs: 0 }
  const head = publishedNumber(heads)
  const oldest = (kept: Kept, from: number): number =>
    Math.min(heads.finalized.number, Math.max(from, blockBefore(reader, head, kept, from, onDamaged)))
  const [bodiesFrom, receiptsFrom] = [tables.bodies, tables.receipts].map(({ id }) => readPruned(reader, id)) as [number, number]
  const least = (): number => blockBefore(reader, heads.finalized.number, leastBodies, bodiesFrom, onDamaged)
  const bodiesKept = bodies === 'all' ? bodiesFrom : Math.max(bodiesFrom, Math.min(oldest(bodies, bodiesFrom), least()))
  const receiptsKept = Math.max(bodiesKept, oldest(receipts, receiptsFrom))
  return { bodies: bodiesKept, receipts: receiptsKept, logs: Math.max(receiptsKept, oldest(logs, readLogsPruned(reader))) }
}

export type RowPrunerDeps = {
  readonly kv: Kv
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly log: Log
  /** directory of segment files */
  readonly dir: string
  readonly retention: RowRetention
}

/** Time for which a file stays after its record: requests that began before may read it. */
const graceMs = 60_000

/** Work on the transactions of a segment: its next block, transactions of earlier ones that are left, and whether the log has said that its file is damaged. */
type Places = { readonly digest: string; next: number; left: readonly Uint8Array[]; isDamaged: boolean }

/** Transactions that a step hashes between two checks of the time. */
const hashesBetween = 64

/** A file without a record. */
type LeftFile = { readonly name: string; readonly untilMs: number }

/** Limits of a step: rows of a table, and time to choose them. */
export type StepLimits = { rowsIn(table: number): number; hasTime(): boolean }

/** `table`: of the rows. `files`: removed ones. `unrecorded`: files whose record was deleted */
type Pruned = { readonly table?: number; readonly rows: number; readonly files?: number; readonly unrecorded?: number }

/**
 * Removes segment files with bodies, receipts and log index of blocks that are not retained, their rows in other tables, and rows of the log index that no
 * file has. A file is removed as a whole, when all of its blocks are too old.
 *
 * Effects, in order: 1 a transaction raises the mark of the table: readers answer that the rows are pruned, 2 places of its transactions are deleted from
 * `txByHash` (bodies only), 3 a transaction deletes the record of the file, and the owner gives readers new snapshots, 4 a minute later the file is
 * removed. After a kill before 3 the next pruner continues, whatever it retains; after 3 the next start removes the file. A damaged file is removed too,
 * without 2 for blocks that cannot be read.
 */
export class RowPruner {
  readonly #deps: RowPrunerDeps
  /** segment whose transactions are being removed from `txByHash` */
  #places: Places | undefined

  /** files without a record, which snapshots of readers may have, oldest first */
  #left: readonly LeftFile[] = []

  readonly #onDamaged = oncePerFile((error) => this.#deps.log.warn('segment file damaged, more rows than configured may stay', { error }))

  constructor(deps: RowPrunerDeps) {
    this.#deps = deps
  }

  /** Returns the time until the next file without a record may be removed; undefined: there is none. */
  waitMs(): number | undefined {
    const [left] = this.#left
    return left && Math.max(0, left.untilMs - this.#deps.clock.elapsedMs())
  }

  /** Removes some rows in a transaction, or one file. @returns undefined when there is nothing to remove */
  step(limits: StepLimits): Pruned | undefined {
    const { kv, retention } = this.#deps
    const [left] = this.#left
    if (left && this.waitMs() === 0) return this.#unlink(left)
    using reader = kv.snapshot()
    const oldest = oldestRows(reader, retention, this.#onDamaged)
    const bodies = oldestSegment(reader, tables.bodies.id)
    if (bodies && bodies.last < oldest.bodies) {
      return this.#mark(reader, bodies) ?? this.#removePlaces(reader, bodies, limits) ?? this.#remove(bodies)
    }
    const receipts = oldestSegment(reader, tables.receipts.id)
    if (receipts && receipts.last < oldest.receipts) return this.#mark(reader, receipts) ?? this.#remove(receipts)
    const logFile = oldestSegment(reader, tables.logIndex.id)
    if (logFile && logFile.last < oldest.logs) return this.#markLogs(reader, logFile) ?? this.#remove(logFile)
    const logs = planLogPruning(reader, oldest.logs, limits.rowsIn(tables.logIndex.id))
    if (logs === undefined) return undefined
    kv.write((tx) => pruneLogIndex(tx, logs))
    return { table: tables.logIndex.id, rows: logs.keys.length }
  }

  /** Makes readers answer that the rows of a segment are pruned. @returns undefined when they do */
  #mark(reader: KvReader, { table, last }: SegmentRecord): Pruned | undefined {
    if (readPruned(reader, table) > last) return undefined
    this.#deps.kv.write((tx) => writePruned(tx, table, last + 1))
    return { rows: 0 }
  }

  /** Does the same for a segment of the log index. */
  #markLogs(reader: KvReader, { last }: SegmentRecord): Pruned | undefined {
    if (readLogsPruned(reader) > last) return undefined
    this.#deps.kv.write((tx) => pruneLogIndex(tx, { from: last + 1, keys: [] }))
    return { rows: 0 }
  }

  /** Removes transactions of a segment from `txByHash`. @returns undefined when they are removed */
  #removePlaces(reader: KvReader, { digest, first, last }: SegmentRecord, { rowsIn, hasTime }: StepLimits): Pruned | undefined {
    if (this.#places?.digest !== digest) this.#places = { digest, next: first, left: [], isDamaged: false }
    const places = this.#places
    const table = tables.txByHash.id
    const most = rowsIn(table)
    if (places.left.length === 0 && places.next > last) return undefined
    // a step reads at least one block, unless transactions of an earlier one are left
    const isDue = (blocks: number): boolean => hasTime() || (blocks === 0 && places.left.length === 0)
    for (let blocks = 0; places.next <= last && places.left.length < most && isDue(blocks); blocks++) {
      places.left = [...places.left, ...this.#transactionsOf(reader, places)]
      places.next++
    }
    const hashes: Hash[] = []
    for (const raw of places.left.slice(0, most)) {
      if (hashes.length > 0 && hashes.length % hashesBetween === 0 && !hasTime()) break
      hashes.push(hashTransaction(raw))
    }
    this.#deps.kv.write((tx) => {
      for (const hash of hashes) {
        // the row of a deposit that a later block repeats is of that block
        if ((readLocation(tx, hash)?.number ?? last + 1) <= last) tx.delete(table, fromHex(hash))
      }
    })
    places.left = places.left.slice(hashes.length)
    return { table, rows: hashes.length }
  }

  /** Returns the transactions of the next block; none when its file is damaged: their places stay, and readers answer that the block is pruned. */
  #transactionsOf(reader: KvReader, places: Places): readonly Uint8Array[] {
    try {
      return transactionsOf(reader, places.next)
    } catch (error) {
      if (!isFault(error, 'SEGMENT_DAMAGED')) throw error
      if (!places.isDamaged) this.#deps.log.warn('segment file damaged, places of its transactions not removed', { error })
      places.isDamaged = true
      return []
    }
  }

  #remove(record: SegmentRecord): Pruned {
    const { kv, clock } = this.#deps
    kv.write((tx) => deleteSegment(tx, record))
    this.#left = [...this.#left, { name: segmentFileName(record), untilMs: clock.elapsedMs() + graceMs }]
    return { rows: 0, unrecorded: 1 }
  }

  #unlink({ name }: LeftFile): Pruned {
    const { dir, log } = this.#deps
    this.#left = this.#left.slice(1)
    try {
      rmSync(join(dir, name), { force: true })
    } catch (error) {
      log.warn('segment file not removed, the next start tries again', { file: name, error })
    }
    return { rows: 0, files: 1 }
  }
}

function oldestSegment(reader: KvReader, table: number): SegmentRecord | undefined {
  for (const record of segmentsOf(reader, table)) return record
  return undefined
}

function transactionsOf(reader: KvReader, number: number): readonly Uint8Array[] {
  const hash = readCanonicalHash(reader, number)
  const transactions = hash && readTransactions(reader, { number, hash })
  return transactions?.map(({ raw }) => raw) ?? []
}
