import { closeSync, ftruncateSync, openSync, readdirSync, statSync, truncateSync, unlinkSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { storeFault } from './faults.ts'
import { encodeRecordHead, SegmentReader, sizeOfRecord } from './journalSegment.ts'
import { storeFailure } from './lmdb/failure.ts'
import { makeDir } from './lmdb/makeDir.ts'
import { defaultSegmentBytes, type Journal, type JournalPlace, type JournalRecord, type PlacedRecord } from './ports.ts'

const fileName = (segment: number): string => `${String(segment).padStart(12, '0')}.journal`
const segmentOf = (name: string): number | undefined => (/^\d{12}\.journal$/.test(name) ? Number(name.slice(0, 12)) : undefined)

class FileJournal implements Journal {
  readonly #dir: string
  readonly #log: Log
  readonly #maxSegmentBytes: number
  readonly #sizes = new Map<number, number>()
  #file: number | undefined
  /** set when a record could not be taken back after it was written in part: no other may follow it */
  #broken: Error | undefined
  segment = 1
  sizeBytes = 0

  constructor(dir: string, log: Log, maxSegmentBytes: number) {
    this.#dir = dir
    this.#log = log
    this.#maxSegmentBytes = maxSegmentBytes
    for (const name of readdirSync(dir).sort()) {
      const segment = segmentOf(name)
      if (segment === undefined) continue
      this.#resize(segment, statSync(join(dir, name)).size)
      this.segment = segment + 1
    }
  }

  *records(): Generator<PlacedRecord> {
    for (const segment of [...this.#sizes.keys()]) {
      if (segment >= this.segment) return
      yield* this.#sound(segment)
      if (this.#sizes.get(segment) === 0) this.drop(segment)
    }
  }

  /** The sound records at the start of a segment; the rest of the file is cut off. */
  *#sound(segment: number): Generator<PlacedRecord> {
    const sizeBytes = this.#sizes.get(segment) ?? 0
    let offset = 0
    const file = this.#openToRead(segment)
    try {
      const reader = new SegmentReader(file, sizeBytes)
      for (let record = this.#readAt(reader, 0); record; record = this.#readAt(reader, offset)) {
        yield { ...record, segment, offset }
        offset += sizeOfRecord(record)
      }
    } finally {
      closeSync(file)
    }
    if (offset < sizeBytes) this.#cutOff(segment, offset, sizeBytes - offset)
  }

  #cutOff(segment: number, atByte: number, lostBytes: number): void {
    const path = join(this.#dir, fileName(segment))
    this.#log.warn('journal cut off at a damaged record', { file: path, atByte, lostBytes })
    try {
      truncateSync(path, atByte)
    } catch (error) {
      throw storeFailure(this.#dir, error)
    }
    this.#resize(segment, atByte)
  }

  read({ segment, offset }: JournalPlace): Uint8Array {
    const sizeBytes = this.#sizes.get(segment)
    if (sizeBytes === undefined) throw new RangeError(`journal: no segment ${segment}`)
    const file = this.#openToRead(segment)
    try {
      const record = this.#readAt(new SegmentReader(file, sizeBytes), offset)
      if (record) return record.bytes.slice()
      throw storeFault('STORE_FAILED', { dir: this.#dir, reason: `${fileName(segment)} is damaged at byte ${offset}` })
    } finally {
      closeSync(file)
    }
  }

  #readAt(reader: SegmentReader, offset: number): JournalRecord | undefined {
    try {
      return reader.recordAt(offset)
    } catch (error) {
      throw storeFailure(this.#dir, error)
    }
  }

  append(record: JournalRecord): JournalPlace {
    if (this.#broken) throw this.#broken
    const recordBytes = sizeOfRecord(record)
    if ((this.#sizes.get(this.segment) ?? 0) + recordBytes > this.#maxSegmentBytes) this.rotate()
    const offset = this.#sizes.get(this.segment) ?? 0
    const file = this.#openToWrite()
    try {
      const written = writevSync(file, [encodeRecordHead(record), record.bytes], offset)
      if (written !== recordBytes) throw new Error('No space left on device: a record was written in part')
    } catch (error) {
      this.#takeBack(file, offset)
      throw storeFailure(this.#dir, error)
    }
    this.#resize(this.segment, offset + recordBytes)
    return { segment: this.segment, offset }
  }

  rotate(): void {
    if (!this.#sizes.has(this.segment)) return
    this.#close()
    this.segment++
  }

  drop(segment: number): void {
    if (!this.#sizes.has(segment) || segment >= this.segment) return
    try {
      unlinkSync(join(this.#dir, fileName(segment)))
    } catch (error) {
      this.#log.warn('journal segment is not removed', { segment, error })
      return
    }
    this.#resize(segment, 0)
    this.#sizes.delete(segment)
  }

  [Symbol.dispose](): void {
    this.#close()
  }

  #openToWrite(): number {
    try {
      this.#file ??= openSync(join(this.#dir, fileName(this.segment)), 'w', 0o600)
      return this.#file
    } catch (error) {
      throw storeFailure(this.#dir, error)
    }
  }

  #openToRead(segment: number): number {
    try {
      return openSync(join(this.#dir, fileName(segment)), 'r')
    } catch (error) {
      throw storeFailure(this.#dir, error)
    }
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #takeBack(file: number, sizeBytes: number): void {
    try {
      ftruncateSync(file, sizeBytes)
    } catch (error) {
      this.#broken = storeFault('STORE_FAILED', { dir: this.#dir, reason: errorMessage(error) }, error)
    }
  }

  #resize(segment: number, sizeBytes: number): void {
    this.sizeBytes += sizeBytes - (this.#sizes.get(segment) ?? 0)
    this.#sizes.set(segment, sizeBytes)
  }
}

/**
 * Opens, or begins, the journal in a directory of its own. Its one owner holds the lock of the data directory. A record that a kill or a bad
 * disk left damaged is cut off with all that follows it in its segment when the records are read, and the log says so. A segment without a
 * record is removed.
 * @param dir is made when it is not there
 * @throws Fault DATADIR_UNWRITABLE
 */
export function openFileJournal(dir: string, log: Log, maxSegmentBytes: number = defaultSegmentBytes): Journal {
  try {
    makeDir(dir)
    return new FileJournal(dir, log, maxSegmentBytes)
  } catch (error) {
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: errorMessage(error) }, error)
  }
}
