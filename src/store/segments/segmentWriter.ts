import type { BlockId } from '#types/blockRef'
import { FrameWriter, type SegmentWriterOptions } from './frameWriter.ts'
import { keyedRow, lastKeysOf, rowEndsOf, type SegmentRange } from './segmentFormat.ts'
import type { SegmentRecord } from './segmentRecords.ts'

export type { SegmentStep } from './frameWriter.ts'

const blocksOf = (first: BlockId, last: BlockId): Omit<SegmentRange, 'table'> => ({
  first: first.number,
  last: last.number,
  firstHash: first.hash,
  lastHash: last.hash,
})

/** Writes a segment file with a row for each block. Disposing before the end removes what was written. Memory: one frame, and 4 bytes for each row. */
export class SegmentWriter implements Disposable {
  readonly #frames: FrameWriter
  readonly #rowEnds: number[] = []
  #first: BlockId | undefined
  #last: BlockId | undefined

  constructor(opts: SegmentWriterOptions) {
    this.#frames = new FrameWriter(opts)
  }

  /** Size of all rows so far. */
  get rowBytes(): number {
    return this.#frames.rowBytes
  }

  /**
   * Appends the row of the next block.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal)
   */
  add(id: BlockId, row: Uint8Array): void {
    if (row.length === 0 || (this.#last && id.number !== this.#last.number + 1)) throw new RangeError(`segment: row of block ${id.number}`)
    this.#first ??= id
    this.#last = id
    this.#frames.add(row)
    this.#rowEnds.push(this.rowBytes)
  }

  /** Completes the file. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal); RangeError without rows */
  finish(): SegmentRecord {
    const [first, last] = [this.#first, this.#last]
    if (first === undefined || last === undefined) throw new RangeError('segment: no rows')
    this.#frames.endFrame()
    return this.#frames.finish(blocksOf(first, last), rowEndsOf(this.#rowEnds))
  }

  [Symbol.dispose](): void {
    this.#frames[Symbol.dispose]()
  }
}

/** Writes a segment file of rows with keys. Disposing before the end removes what was written. Memory: one frame, and the last key of each frame. */
export class KeyedSegmentWriter implements Disposable {
  readonly #frames: FrameWriter
  readonly #lastKeys: Uint8Array[] = []
  #key = new Uint8Array(0)

  constructor(opts: SegmentWriterOptions) {
    this.#frames = new FrameWriter(opts)
  }

  /** Size of all rows so far, keys included. */
  get rowBytes(): number {
    return this.#frames.rowBytes
  }

  /** Appends the next row in the order of the keys. @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) */
  add(key: Uint8Array, value: Uint8Array): void {
    if (Buffer.compare(this.#key, key) >= 0) throw new RangeError('segment: keys out of order')
    this.#key = key.slice()
    if (this.#frames.add(keyedRow(key, value))) this.#lastKeys.push(this.#key)
  }

  /** Completes the file with the rows of the blocks of a range. @throws as `add` */
  finish(first: BlockId, last: BlockId): SegmentRecord {
    if (this.#frames.endFrame()) this.#lastKeys.push(this.#key)
    return this.#frames.finish(blocksOf(first, last), lastKeysOf(this.#lastKeys))
  }

  [Symbol.dispose](): void {
    this.#frames[Symbol.dispose]()
  }
}
