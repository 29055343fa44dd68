import { crc32 } from 'node:zlib'
import { concatBytes, equalBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Hash, hashFromBytes } from '#types/ids'
import type { Row } from '../ports.ts'
import { tables } from '../tables.ts'

/*
 * A segment file has the rows of one table for consecutive canonical blocks, in the order of their keys. Integers are big-endian.
 *   head     'basaltsg', version u16, table id u16, number of frames u32, genesis hash, first number u64, last number u64, hash of the first block,
 *            hash of the last block, offset of the index u64, CRC-32 of the head before this field and of the index u32
 *   frames   zstd frames with a checksum, each of whole rows, one after another
 *   index    for each frame the end of its rows u32 and its end in the file u32, then for each block the end of its row u32
 * Ends of rows count from the first row of the file. The file's name has the SHA-256 of its bytes.
 *
 * In a file of the log index a block has no row of its own. Its rows have their keys, and are found by them:
 *   row      length of the key u8, length of the value u32, key, value
 *   index    for each frame the two ends, then for each frame its last key, padded with zeros to 17 bytes
 */
const magic = new TextEncoder().encode('basaltsg')
const version = 1
/** The head ends with its CRC-32. */
const sumAt = 136
export const headBytes: number = sumAt + 4
const frameEntryBytes = 8
const rowEntryBytes = 4
/** Longest key of the log index. */
const keyBytes = 17
const keyedHead = 5

/** What a segment file has: rows of a table for the blocks from `first` to `last` of one chain. */
export type SegmentRange = {
  readonly table: number
  readonly first: number
  readonly last: number
  readonly firstHash: Hash
  readonly lastHash: Hash
}

export type SegmentHead = SegmentRange & { readonly genesis: Hash; readonly frames: number; readonly indexAt: number }

/** Returns the length of the index of a segment with this head. */
export const indexBytesOf = ({ table, frames, first, last }: Pick<SegmentHead, 'table' | 'frames' | 'first' | 'last'>): number =>
  frames * frameEntryBytes + (table === tables.logIndex.id ? frames * keyBytes : (last - first + 1) * rowEntryBytes)

/** @param index as of `SegmentIndexBuilder` */
export function encodeHead(head: SegmentHead, index: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(headBytes)
  const view = new DataView(bytes.buffer)
  bytes.set(magic)
  view.setUint16(8, version)
  view.setUint16(10, head.table)
  view.setUint32(12, head.frames)
  const { genesis, first, last, firstHash, lastHash, indexAt } = head
  bytes.set(concatBytes(fromHex(genesis), u64Bytes(first), u64Bytes(last), fromHex(firstHash), fromHex(lastHash), u64Bytes(indexAt)), 16)
  view.setUint32(sumAt, checksumOf(bytes, index))
  return bytes
}

const checksumOf = (head: Uint8Array, index: Uint8Array): number => crc32(index, crc32(head.subarray(0, sumAt)))

/** Returns whether the checksum in a head is that of the head and its index. */
export const isChecked = (head: Uint8Array, index: Uint8Array): boolean => u32At(head, sumAt) === checksumOf(head, index)

/** Decodes a head; its checksum is not verified. Returns why it is not one as a text. */
export function decodeHead(bytes: Uint8Array): SegmentHead | string {
  if (bytes.length < headBytes || !equalBytes(bytes.subarray(0, magic.length), magic)) return 'it is not a segment file'
  const view = new DataView(bytes.buffer, bytes.byteOffset, headBytes)
  const found = view.getUint16(8)
  if (found !== version) return `it has format ${found}, this version reads format ${version}`
  const [high, wideFirst, wideLast, wideIndex] = [2 ** 21, view.getUint32(48), view.getUint32(56), view.getUint32(128)]
  if (wideFirst >= high || wideLast >= high || wideIndex >= high) return 'its head is damaged'
  const at = (from: number): number => u64FromBytes(bytes.subarray(from, from + 8))
  return {
    table: view.getUint16(10),
    frames: view.getUint32(12),
    genesis: hashFromBytes(bytes.subarray(16, 48)),
    first: at(48),
    last: at(56),
    firstHash: hashFromBytes(bytes.subarray(64, 96)),
    lastHash: hashFromBytes(bytes.subarray(96, 128)),
    indexAt: at(128),
  }
}

/** Returns the part of the index that follows the ends of the frames, for rows of blocks. @param ends of the rows */
export function rowEndsOf(ends: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(ends.length * rowEntryBytes)
  const view = new DataView(bytes.buffer)
  for (const [row, end] of ends.entries()) view.setUint32(row * rowEntryBytes, end)
  return bytes
}

/** Returns the same part for rows with keys. @param last key of each frame */
export function lastKeysOf(last: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(last.length * keyBytes)
  for (const [frame, key] of last.entries()) bytes.set(key, frame * keyBytes)
  return bytes
}

/** Encodes a row with its key. */
export function keyedRow(key: Uint8Array, value: Uint8Array): Uint8Array {
  if (key.length > keyBytes) throw new RangeError(`segment: a key of ${key.length} bytes`)
  const head = new Uint8Array(keyedHead)
  head[0] = key.length
  new DataView(head.buffer).setUint32(1, value.length)
  return concatBytes(head, key, value)
}

/** Iterates over the rows with keys of a decompressed frame, as views of it. */
export function* keyedRows(frame: Uint8Array): Generator<Row> {
  for (let at = 0; at < frame.length; ) {
    const keyAt = at + keyedHead
    const valueAt = keyAt + (frame[at] ?? 0)
    const end = valueAt + u32At(frame, at + 1)
    yield { key: frame.subarray(keyAt, valueAt), value: frame.subarray(valueAt, end) }
    at = end
  }
}

/** Collects the frames of a segment that is being written. */
export class SegmentIndexBuilder {
  readonly #frames: number[] = []

  get frames(): number {
    return this.#frames.length / 2
  }

  /** @param rowsEnd end of its rows @param fileEnd its end in the file */
  frame(rowsEnd: number, fileEnd: number): void {
    this.#frames.push(rowsEnd, fileEnd)
  }

  /** @param rest of `rowEndsOf` or `lastKeysOf` */
  bytes(rest: Uint8Array): Uint8Array {
    return concatBytes(rowEndsOf(this.#frames), rest)
  }
}

/** Place of a frame in the file, and the end of the rows before it. */
export type FramePlace = { readonly fileFrom: number; readonly fileTo: number; readonly rowsFrom: number; readonly frameBytes: number }

/** A frame ends with the row that reaches this size. */
export const frameBytes: number = 16 * 1_024
/** Bytes of a row, at most: a block with more is not valid. */
const mostRowBytes = 64 * 2 ** 20
/** Bytes that compression may add to those of a frame. */
const addedBytes = (bytes: number): number => bytes / 128 + 1_024

/** Index of a segment file. */
export class SegmentIndex {
  readonly #bytes: Uint8Array
  readonly frames: number

  /** @param bytes verified with `isChecked` */
  constructor(bytes: Uint8Array, frames: number) {
    this.#bytes = bytes
    this.frames = frames
  }

  /**
   * Returns whether an index is as this version writes it: the ends of frames and rows ascend, a frame ends with the row that reaches 16 KB, a row has at most 64 MB, no
   * frame is much longer in the file, and the last ends are the given ones. A file that another node wrote must have such an index.
   * @param rows number of blocks
   */
  isSound(rows: number, rowsEnd: number, fileEnd: number): boolean {
    let [row, lastRow, lastFile] = [0, 0, headBytes]
    for (let frame = 0; frame < this.frames; frame++) {
      const [endOfRows, endInFile] = [this.#rowsEnd(frame), this.#fileEnd(frame)]
      const bytes = endOfRows - lastRow
      if (bytes <= 0 || endInFile <= lastFile || endInFile - lastFile > bytes + addedBytes(bytes)) return false
      for (let end = lastRow; end < endOfRows; row++) {
        const next = row < rows ? this.#rowEnd(row) : end
        if (next <= end || next > endOfRows || next - end > mostRowBytes || end - lastRow >= frameBytes) return false
        end = next
      }
      ;[lastRow, lastFile] = [endOfRows, endInFile]
    }
    return row === rows && lastRow === rowsEnd && lastFile === fileEnd
  }

  frameAt(frame: number): FramePlace {
    const rowsFrom = frame === 0 ? 0 : this.#rowsEnd(frame - 1)
    const fileFrom = frame === 0 ? headBytes : this.#fileEnd(frame - 1)
    return { fileFrom, fileTo: this.#fileEnd(frame), rowsFrom, frameBytes: this.#rowsEnd(frame) - rowsFrom }
  }

  /** Returns the frame of the row of a block, and the ends of the row. Rows are not empty. @param row index of the block in the segment */
  rowAt(row: number): { readonly frame: number; readonly from: number; readonly to: number } {
    const from = row === 0 ? 0 : this.#rowEnd(row - 1)
    return { frame: this.#firstFrame((frame) => this.#rowsEnd(frame) > from), from, to: this.#rowEnd(row) }
  }

  /** Returns the first frame with a row at or after a key; the number of frames when there is none. */
  frameFrom(key: Uint8Array): number {
    return this.#firstFrame((frame) => Buffer.compare(this.#lastKey(frame), key) >= 0)
  }

  /** @param isMet false, then true, in the order of the frames */
  #firstFrame(isMet: (frame: number) => boolean): number {
    let [low, high] = [0, this.frames]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isMet(middle)) high = middle
      else low = middle + 1
    }
    return low
  }

  #rowEnd(row: number): number {
    return u32At(this.#bytes, this.frames * frameEntryBytes + row * rowEntryBytes)
  }

  #lastKey(frame: number): Uint8Array {
    const at = this.frames * frameEntryBytes + frame * keyBytes
    return this.#bytes.subarray(at, at + keyBytes)
  }

  #rowsEnd(frame: number): number {
    return u32At(this.#bytes, frame * frameEntryBytes)
  }

  #fileEnd(frame: number): number {
    return u32At(this.#bytes, frame * frameEntryBytes + 4)
  }
}
