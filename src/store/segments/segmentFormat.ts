import { crc32 } from 'node:zlib'
import { concatBytes, equalBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { type Hash, hashFromBytes } from '#types/ids'

/*
 * A segment file has the rows of one table for consecutive canonical blocks. Integers are big-endian.
 *   head     'basaltsg', version u16, table id u16, number of frames u32, genesis hash, first number u64, last number u64, hash of the first block,
 *            hash of the last block, offset of the index u64, CRC-32 of the head before this field and of the index u32
 *   frames   zstd frames with a checksum, each of whole rows, one after another
 *   index    for each frame the end of its rows u32 and its end in the file u32, then for each block the end of its row u32
 * Ends of rows count from the first row of the file. The file's name has the SHA-256 of its bytes.
 */
const magic = new TextEncoder().encode('basaltsg')
const version = 1
/** The head ends with its CRC-32. */
const sumAt = 136
export const headBytes: number = sumAt + 4
const frameEntryBytes = 8
const rowEntryBytes = 4

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
export const indexBytesOf = ({ frames, first, last }: Pick<SegmentHead, 'frames' | 'first' | 'last'>): number =>
  frames * frameEntryBytes + (last - first + 1) * rowEntryBytes

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

/** Collects the index of a segment that is being written. */
export class SegmentIndexBuilder {
  readonly #frames: number[] = []
  readonly #rows: number[] = []

  get frames(): number {
    return this.#frames.length / 2
  }

  /** @param end of the row, counted from the first row */
  row(end: number): void {
    this.#rows.push(end)
  }

  /** @param rowsEnd end of its rows @param fileEnd its end in the file */
  frame(rowsEnd: number, fileEnd: number): void {
    this.#frames.push(rowsEnd, fileEnd)
  }

  bytes(): Uint8Array {
    const bytes = new Uint8Array(4 * (this.#frames.length + this.#rows.length))
    const view = new DataView(bytes.buffer)
    let at = 0
    for (const end of this.#frames) view.setUint32(4 * at++, end)
    for (const end of this.#rows) view.setUint32(4 * at++, end)
    return bytes
  }
}

/** Place of a row: its frame in the file, and its bytes in the decompressed frame. */
export type RowPlace = {
  readonly frame: number
  readonly fileFrom: number
  readonly fileTo: number
  readonly frameBytes: number
  readonly from: number
  readonly to: number
}

/** Index of a segment file. */
export class SegmentIndex {
  readonly #bytes: Uint8Array
  readonly #frames: number

  /** @param bytes verified with `isChecked` */
  constructor(bytes: Uint8Array, frames: number) {
    this.#bytes = bytes
    this.#frames = frames
  }

  /** @param row index of the block in the segment */
  place(row: number): RowPlace {
    const from = row === 0 ? 0 : this.#rowEnd(row - 1)
    const to = this.#rowEnd(row)
    const frame = this.#frameOf(from)
    const rowsFrom = frame === 0 ? 0 : this.#rowsEnd(frame - 1)
    const fileFrom = frame === 0 ? headBytes : this.#fileEnd(frame - 1)
    const frameBytes = this.#rowsEnd(frame) - rowsFrom
    return { frame, fileFrom, fileTo: this.#fileEnd(frame), frameBytes, from: from - rowsFrom, to: to - rowsFrom }
  }

  /** Returns the frame that has the row at a position: the first that ends after it. Rows are not empty. */
  #frameOf(position: number): number {
    let [low, high] = [0, this.#frames - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#rowsEnd(middle) > position) high = middle
      else low = middle + 1
    }
    return low
  }

  #rowEnd(row: number): number {
    return u32At(this.#bytes, this.#frames * frameEntryBytes + row * rowEntryBytes)
  }

  #rowsEnd(frame: number): number {
    return u32At(this.#bytes, frame * frameEntryBytes)
  }

  #fileEnd(frame: number): number {
    return u32At(this.#bytes, frame * frameEntryBytes + 4)
  }
}
