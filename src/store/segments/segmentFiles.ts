import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import { Lru } from '#lib/lru'
import { unzstd } from '#lib/zstd'
import type { Hash } from '#types/ids'
import { storeFault } from '../faults.ts'
import type { Row } from '../ports.ts'
import {
  decodeHead,
  type FramePlace,
  headBytes,
  indexBytesOf,
  isChecked,
  keyedRows,
  type SegmentHead,
  SegmentIndex,
} from './segmentFormat.ts'
import { type SegmentRecord, segmentFileName } from './segmentRecords.ts'

/** Bounds of a thread: open files, each with an index of some 4 bytes for each block or 25 for each frame of the log index, and decompressed frames. */
const usualBounds = { files: 64, frameBytes: 4 * 2 ** 20 }
/** Interval between checks for removed files, which take a microsecond a file. */
const looksMs = 60_000

class SegmentFile {
  readonly path: string
  readonly #file: number
  readonly index: SegmentIndex

  /** @throws Fault SEGMENT_DAMAGED */
  constructor(path: string, record: SegmentRecord) {
    this.path = path
    this.#file = this.#guarded(() => openSync(path, 'r'))
    try {
      this.index = this.#readIndex(record)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** Whether the file still has its name. */
  get isLinked(): boolean {
    return fstatSync(this.#file).nlink > 0
  }

  /** Returns a frame, decompressed. @throws Fault SEGMENT_DAMAGED */
  frame({ fileFrom, fileTo, frameBytes }: FramePlace): Uint8Array {
    const bytes = unzstd(this.#read(fileFrom, fileTo - fileFrom), frameBytes)
    if (bytes?.length !== frameBytes) throw this.#damaged(`the frame at byte ${fileFrom} is damaged`)
    return bytes
  }

  close(): void {
    closeSync(this.#file)
  }

  #readIndex(record: SegmentRecord): SegmentIndex {
    const { size } = this.#guarded(() => fstatSync(this.#file))
    if (size !== record.fileBytes) throw this.#damaged(`it has ${size} bytes, not ${record.fileBytes}`)
    const bytes = this.#read(0, headBytes)
    const head = decodeHead(bytes)
    if (typeof head === 'string') throw this.#damaged(head)
    const indexBytes = indexBytesOf(head)
    if (head.indexAt + indexBytes !== size) throw this.#damaged('its head contradicts its size')
    const index = this.#read(head.indexAt, indexBytes)
    if (!isChecked(bytes, index)) throw this.#damaged('its head or its index is damaged')
    if (!isOf(head, record)) throw this.#damaged('it has other blocks than the store records')
    return new SegmentIndex(index, head.frames)
  }

  #read(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    this.#guarded(() => {
      for (let done = 0; done < length; ) {
        const read = readSync(this.#file, bytes, done, length - done, at + done)
        if (read === 0) throw new Error(`it ends at byte ${at + done}`)
        done += read
      }
    })
    return bytes
  }

  #guarded<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.#damaged(errorMessage(error), error)
    }
  }

  #damaged(reason: string, cause?: unknown): Error {
    return storeFault('SEGMENT_DAMAGED', { path: this.path, reason }, cause)
  }
}

/**
 * Returns the record of a file of blocks that another node wrote, whose SHA-256 is verified.
 * @param expected what the file should have
 * @throws Fault SEGMENT_DAMAGED when it is of another chain or of other blocks, or its index is not as this version writes it
 */
export function recordOf(path: string, genesis: Hash, expected: Omit<SegmentRecord, 'firstHash' | 'lastHash'>): SegmentRecord {
  const damaged = (reason: string): Error => storeFault('SEGMENT_DAMAGED', { path, reason })
  const head = headOf(path)
  if (typeof head === 'string') throw damaged(head)
  if (head.genesis !== genesis) throw damaged(`it is of the chain with genesis ${head.genesis}`)
  const { table, first, last, rowBytes } = expected
  const rows = last - first + 1
  if (head.table !== table || head.first !== first || head.last !== last || head.frames > rows)
    throw damaged('it has other blocks than the manifest names')
  const record = { ...expected, firstHash: head.firstHash, lastHash: head.lastHash }
  const file = new SegmentFile(path, record)
  file.close()
  if (!file.index.isSound(rows, rowBytes, head.indexAt)) throw damaged('its index is damaged')
  return record
}

/** Returns the head of a file, or why it has none. */
function headOf(path: string): SegmentHead | string {
  const bytes = new Uint8Array(headBytes)
  const file = openSync(path, 'r')
  try {
    return readSync(file, bytes, 0, headBytes, 0) < headBytes ? 'it is not a segment file' : decodeHead(bytes)
  } finally {
    closeSync(file)
  }
}

const isOf = (head: SegmentHead, { table, first, last, firstHash, lastHash }: SegmentRecord): boolean =>
  head.table === table && head.first === first && head.last === last && head.firstHash === firstHash && head.lastHash === lastHash

/** Segment files of a directory as one thread reads them: recently used files stay open, and recently read frames stay decompressed. */
export class SegmentFiles implements Disposable {
  readonly #dir: string
  readonly #clock: Pick<Clock, 'after'>
  readonly #maxFiles: number
  /** by name, the least recently used first */
  readonly #open = new Map<string, SegmentFile>()
  readonly #frames: Lru<string, Uint8Array>
  /** next look for removed files, while one is open */
  #look: Disposable | undefined

  constructor(dir: string, clock: Pick<Clock, 'after'>, { files, frameBytes } = usualBounds) {
    this.#dir = dir
    this.#clock = clock
    this.#maxFiles = files
    this.#frames = new Lru(frameBytes)
  }

  /**
   * Returns a view of the row of a block, which the caller must not change. Cost: one read of the file and one decompression of a row, or of 16 KB of
   * small rows, unless the frame is cached.
   * @param number a block of the segment
   * @throws Fault SEGMENT_DAMAGED (fatal): no such file, truncated, or bytes that contradict a checksum
   */
  row(record: SegmentRecord, number: number): Uint8Array {
    const name = segmentFileName(record)
    const file = this.#opened(name, record)
    const { frame, from, to } = file.index.rowAt(number - record.first)
    const { rowsFrom } = file.index.frameAt(frame)
    return this.#frame(name, file, frame).subarray(from - rowsFrom, to - rowsFrom)
  }

  /**
   * Iterates over rows of the log index from a key on, as views, which the caller must not change. Cost of the first row: one read of the file and one
   * decompression, unless the frame is cached.
   * @throws as `row`
   */
  *rowsFrom(record: SegmentRecord, from: Uint8Array): Generator<Row> {
    const name = segmentFileName(record)
    const { index } = this.#opened(name, record)
    for (let frame = index.frameFrom(from); frame < index.frames; frame++) {
      // a reader of many files may have closed this one
      const bytes = this.#frame(name, this.#opened(name, record), frame)
      for (const row of keyedRows(bytes)) if (Buffer.compare(row.key, from) >= 0) yield row
    }
  }

  #frame(name: string, file: SegmentFile, frame: number): Uint8Array {
    const key = `${name}/${frame}`
    const known = this.#frames.get(key)
    if (known) return known
    const bytes = file.frame(file.index.frameAt(frame))
    this.#frames.set(key, bytes, bytes.length)
    return bytes
  }

  [Symbol.dispose](): void {
    this.#look?.[Symbol.dispose]()
    for (const file of this.#open.values()) file.close()
    this.#open.clear()
    this.#frames.clear()
  }

  #opened(name: string, record: SegmentRecord): SegmentFile {
    const known = this.#open.get(name)
    if (known) {
      this.#open.delete(name)
      this.#open.set(name, known)
      return known
    }
    this.#makeRoom()
    const file = new SegmentFile(join(this.#dir, name), record)
    this.#open.set(name, file)
    this.#look ??= this.#clock.after(looksMs, () => this.#lookAgain())
    return file
  }

  /** Closes removed files also when no other file is read. */
  #lookAgain(): void {
    this.#closeRemoved()
    this.#look = this.#open.size > 0 ? this.#clock.after(looksMs, () => this.#lookAgain()) : undefined
  }

  /** Closes files that retention has removed, so that the disk gets their space back. */
  #closeRemoved(): void {
    for (const [name, file] of this.#open) if (!file.isLinked) this.#close(name, file)
  }

  /** Closes removed files, and the least recently used one at the bound. */
  #makeRoom(): void {
    this.#closeRemoved()
    const [oldest] = this.#open
    if (oldest && this.#open.size >= this.#maxFiles) this.#close(...oldest)
  }

  #close(name: string, file: SegmentFile): void {
    file.close()
    this.#open.delete(name)
  }
}
