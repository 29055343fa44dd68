import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { zstdChecked } from '#lib/zstd'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { storeFailure } from '../lmdb/failure.ts'
import { makeDir } from '../lmdb/makeDir.ts'
import { encodeHead, headBytes, SegmentIndexBuilder } from './segmentFormat.ts'
import { type SegmentRecord, segmentFileName } from './segmentRecords.ts'

/** A frame ends with the row that reaches this size. */
const frameBytes = 16 * 1_024
const readBytes = 2 ** 20
const temporaryEnd = '.tmp'

/** Returns whether a file has the name of one that is being written. */
export const isTemporaryName = (name: string): boolean => /^\d+\.tmp$/.test(name)

/** Effects of writing a file, in order. From `named` on the file is complete. */
export type SegmentStep = 'created' | 'written' | 'flushed' | 'named'

export type SegmentWriterOptions = {
  readonly dir: string
  readonly table: number
  readonly genesis: Hash
  /** Called after each step. */
  readonly onStep?: ((step: SegmentStep) => void) | undefined
}

/** Writes one segment file, row by row. Disposing before the end removes what was written. Memory: one frame, and 4 bytes for each row. */
export class SegmentWriter implements Disposable {
  readonly #opts: SegmentWriterOptions
  readonly #index = new SegmentIndexBuilder()
  #path = ''
  #file: number | undefined
  #first: BlockId | undefined
  #last: BlockId | undefined
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #fileEnd = headBytes
  /** size of all rows so far */
  rowBytes = 0

  constructor(opts: SegmentWriterOptions) {
    this.#opts = opts
  }

  /**
   * Appends the row of the next block.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal)
   */
  add(id: BlockId, row: Uint8Array): void {
    if (row.length === 0 || (this.#last && id.number !== this.#last.number + 1)) throw new RangeError(`segment: row of block ${id.number}`)
    this.#first ??= id
    this.#last = id
    this.rowBytes += row.length
    this.#index.row(this.rowBytes)
    this.#pending.push(row)
    this.#pendingBytes += row.length
    if (this.#pendingBytes >= frameBytes) this.#flushFrame()
  }

  /**
   * Completes the file: index, head, flush to the disk, hash of the bytes as read back, final name.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal); RangeError without rows
   */
  finish(): SegmentRecord {
    const { table, genesis, dir, onStep } = this.#opts
    const [first, last] = [this.#first, this.#last]
    if (first === undefined || last === undefined) throw new RangeError('segment: no rows')
    if (this.#pendingBytes > 0) this.#flushFrame()
    const index = this.#index.bytes()
    const range = { table, first: first.number, last: last.number, firstHash: first.hash, lastHash: last.hash }
    return this.#guarded(() => {
      const file = this.#opened()
      writeAll(file, index, this.#fileEnd)
      writeAll(file, encodeHead({ ...range, genesis, frames: this.#index.frames, indexAt: this.#fileEnd }, index), 0)
      onStep?.('written')
      fsyncSync(file)
      onStep?.('flushed')
      const fileBytes = this.#fileEnd + index.length
      const record = { ...range, digest: digestOf(file, fileBytes), fileBytes, rowBytes: this.rowBytes }
      closeSync(file)
      this.#file = undefined
      renameSync(this.#path, join(dir, segmentFileName(record)))
      this.#path = ''
      flushDir(dir)
      onStep?.('named')
      return record
    })
  }

  [Symbol.dispose](): void {
    const [file, path] = [this.#file, this.#path]
    this.#file = undefined
    this.#path = ''
    try {
      if (file !== undefined) closeSync(file)
      if (path !== '') rmSync(path, { force: true })
    } catch {
      // the error that ended the writing is thrown; the next start removes the file
    }
  }

  #flushFrame(): void {
    const frame = zstdChecked(this.#pending.length === 1 ? (this.#pending[0] as Uint8Array) : Buffer.concat(this.#pending))
    this.#pending = []
    this.#pendingBytes = 0
    this.#guarded(() => writeAll(this.#opened(), frame, this.#fileEnd))
    this.#fileEnd += frame.length
    this.#index.frame(this.rowBytes, this.#fileEnd)
  }

  #opened(): number {
    if (this.#file !== undefined) return this.#file
    const { dir, table, onStep } = this.#opts
    makeDir(dir)
    this.#path = join(dir, `${table}${temporaryEnd}`)
    this.#file = openSync(this.#path, 'w+', 0o600)
    onStep?.('created')
    return this.#file
  }

  #guarded<T>(run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw storeFailure(this.#opts.dir, error)
    }
  }
}

function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, position + done)
}

/** Returns the SHA-256 of a file's first bytes in hex. Throws the system's error. */
export function digestOf(file: number, fileBytes: number): string {
  const hash = createHash('sha256')
  const window = new Uint8Array(Math.min(readBytes, fileBytes))
  for (let at = 0; at < fileBytes; ) {
    const read = readSync(file, window, 0, Math.min(window.length, fileBytes - at), at)
    if (read === 0) throw new Error(`the file ends after ${at} of ${fileBytes} bytes`)
    hash.update(window.subarray(0, read))
    at += read
  }
  return hash.digest('hex')
}

/** Makes names in a directory durable. Throws the system's error. */
export function flushDir(dir: string): void {
  const handle = openSync(dir, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
