import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { zstdChecked } from '#lib/zstd'
import type { Hash } from '#types/ids'
import { flushPath } from '../flush.ts'
import { storeFailure } from '../lmdb/failure.ts'
import { makeDir } from '../lmdb/makeDir.ts'
import { encodeHead, frameBytes, headBytes, SegmentIndexBuilder, type SegmentRange } from './segmentFormat.ts'
import { type SegmentRecord, segmentFileName } from './segmentRecords.ts'

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

/** Writes the frames, the index and the head of one segment file. Disposing before the end removes what was written. Memory: one frame. */
export class FrameWriter implements Disposable {
  readonly #opts: SegmentWriterOptions
  readonly #index = new SegmentIndexBuilder()
  #path = ''
  #file: number | undefined
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  #fileEnd = headBytes
  /** size of all rows so far */
  rowBytes = 0

  constructor(opts: SegmentWriterOptions) {
    this.#opts = opts
  }

  /**
   * Appends a row.
   * @returns whether the row ends a frame
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal)
   */
  add(row: Uint8Array): boolean {
    this.rowBytes += row.length
    this.#pending.push(row)
    this.#pendingBytes += row.length
    return this.#pendingBytes >= frameBytes && this.endFrame()
  }

  /** Ends a frame that has begun. @returns whether there was one @throws as `add` */
  endFrame(): boolean {
    if (this.#pendingBytes === 0) return false
    const frame = zstdChecked(this.#pending.length === 1 ? (this.#pending[0] as Uint8Array) : Buffer.concat(this.#pending))
    this.#pending = []
    this.#pendingBytes = 0
    this.#guarded(() => writeAll(this.#opened(), frame, this.#fileEnd))
    this.#fileEnd += frame.length
    this.#index.frame(this.rowBytes, this.#fileEnd)
    return true
  }

  /**
   * Completes a file whose last frame has ended: index, head, flush to the disk, hash of the bytes as read back, final name.
   * @param rest of the index
   * @throws as `add`
   */
  finish(blocks: Omit<SegmentRange, 'table'>, rest: Uint8Array): SegmentRecord {
    const { table, genesis, dir, onStep } = this.#opts
    const range = { table, ...blocks }
    const index = this.#index.bytes(rest)
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
      flushPath(dir)
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
