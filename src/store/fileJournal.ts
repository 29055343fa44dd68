import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Log } from '#lib/log'
import { storeFault } from './faults.ts'
import { makeDir } from './lmdb/dataFile.ts'
import { reasonOf, storeFailure } from './lmdb/failure.ts'
import type { Journal, JournalRecord } from './ports.ts'

/*
 * One file a segment, records one after another: length of the bytes u32, CRC-32 of kind and bytes u32, kind u8, bytes; integers big-endian.
 */
const headBytes = 9
const kinds = ['block', 'heads', 'transactions'] as const
/** No record is longer: a length above it is damage. */
const maxRecordBytes = 2 ** 28
const fileName = (segment: number): string => `${String(segment).padStart(12, '0')}.journal`
const segmentOf = (name: string): number | undefined => (/^\d{12}\.journal$/.test(name) ? Number(name.slice(0, 12)) : undefined)

/** The records at the start of a segment's file, and where the first one that is torn or damaged begins. */
function readSegment(file: Uint8Array): { readonly records: JournalRecord[]; readonly soundBytes: number } {
  const records: JournalRecord[] = []
  const bytes = new Uint8Array(file.buffer, file.byteOffset, file.length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  while (bytes.length - at >= headBytes) {
    const end = at + headBytes + view.getUint32(at)
    const kind = kinds[view.getUint8(at + 8)]
    if (kind === undefined || end > bytes.length || end - at > maxRecordBytes) break
    if (crc32(bytes.subarray(at + 8, end)) !== view.getUint32(at + 4)) break
    records.push({ kind, bytes: bytes.slice(at + headBytes, end) })
    at = end
  }
  return { records, soundBytes: at }
}

class FileJournal implements Journal {
  readonly #dir: string
  readonly #log: Log
  readonly #sizes = new Map<number, number>()
  #file: number | undefined
  /** set when a record could not be taken back after it was written in part: no other may follow it */
  #broken: Error | undefined
  segment = 1
  sizeBytes = 0

  constructor(dir: string, log: Log) {
    this.#dir = dir
    this.#log = log
    for (const name of readdirSync(dir).sort()) {
      const segment = segmentOf(name)
      if (segment === undefined) continue
      this.#resize(segment, statSync(join(dir, name)).size)
      this.segment = segment + 1
    }
  }

  *records(): Generator<JournalRecord & { readonly segment: number }> {
    for (const segment of [...this.#sizes.keys()]) {
      if (segment >= this.segment) return
      for (const record of this.#sound(segment)) yield { ...record, segment }
    }
  }

  /** What is whole of a segment; the rest is cut off. */
  #sound(segment: number): readonly JournalRecord[] {
    const path = join(this.#dir, fileName(segment))
    try {
      const bytes = readFileSync(path)
      const { records, soundBytes } = readSegment(bytes)
      if (soundBytes < bytes.length) {
        this.#log.warn('journal cut off at a damaged record', { file: path, atByte: soundBytes, lostBytes: bytes.length - soundBytes })
        truncateSync(path, soundBytes)
        this.#resize(segment, soundBytes)
      }
      return records
    } catch (error) {
      throw storeFailure(this.#dir, error)
    }
  }

  append({ kind, bytes }: JournalRecord): void {
    if (this.#broken) throw this.#broken
    const head = new Uint8Array(headBytes)
    const view = new DataView(head.buffer)
    view.setUint32(0, bytes.length)
    view.setUint8(8, kinds.indexOf(kind))
    view.setUint32(4, crc32(bytes, crc32(head.subarray(8))))
    const before = this.#sizes.get(this.segment) ?? 0
    const file = this.#open()
    try {
      const written = writevSync(file, [head, bytes], before)
      if (written !== headBytes + bytes.length) throw new Error('No space left on device: a record was written in part')
    } catch (error) {
      this.#takeBack(file, before)
      throw storeFailure(this.#dir, error)
    }
    this.#resize(this.segment, before + headBytes + bytes.length)
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

  #open(): number {
    try {
      this.#file ??= openSync(join(this.#dir, fileName(this.segment)), 'w')
      return this.#file
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
      this.#broken = storeFault('STORE_FAILED', { dir: this.#dir, reason: reasonOf(error) }, error)
    }
  }

  #resize(segment: number, sizeBytes: number): void {
    this.sizeBytes += sizeBytes - (this.#sizes.get(segment) ?? 0)
    this.#sizes.set(segment, sizeBytes)
  }
}

/**
 * Opens, or begins, the journal in a directory of its own. Its one owner holds the lock of the data directory. A record that a kill or a bad
 * disk left damaged is cut off with all that follows it in its segment when the records are read, and the log says so.
 * @param dir is made when it is not there
 * @throws Fault DATADIR_UNWRITABLE
 */
export function openFileJournal(dir: string, log: Log): Journal {
  try {
    makeDir(dir)
    return new FileJournal(dir, log)
  } catch (error) {
    throw storeFault('DATADIR_UNWRITABLE', { dir, reason: reasonOf(error) }, error)
  }
}
