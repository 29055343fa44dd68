import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { JournalRecord } from './ports.ts'

/*
 * A segment is one file, records one after another: length of the bytes u32, CRC-32 of kind and bytes u32, kind u8, bytes; integers big-endian.
 */
const headBytes = 9
const kinds = ['block', 'heads', 'transactions'] as const
/** No record is longer: a length above it is damage. */
const maxRecordBytes = 2 ** 28
const windowBytes = 2 ** 20

/** Length of a record in its segment. */
export const sizeOfRecord = ({ bytes }: JournalRecord): number => headBytes + bytes.length

/** The part of a record before its bytes. */
export function encodeRecordHead({ kind, bytes }: JournalRecord): Uint8Array {
  const head = new Uint8Array(headBytes)
  const view = new DataView(head.buffer)
  view.setUint32(0, bytes.length)
  view.setUint8(8, kinds.indexOf(kind))
  view.setUint32(4, crc32(bytes, crc32(head.subarray(8))))
  return head
}

/** Reads one segment through a window of 1 MiB, or of the longest record. */
export class SegmentReader {
  readonly #file: number
  readonly #sizeBytes: number
  #window = new Uint8Array(0)
  #from = 0
  #to = 0

  /** @param sizeBytes of the file */
  constructor(file: number, sizeBytes: number) {
    this.#file = file
    this.#sizeBytes = sizeBytes
  }

  /**
   * The record at an offset, its bytes valid until the next call; undefined when it is torn or damaged, and at the end of the file. Throws the
   * system's error.
   */
  recordAt(offset: number): JournalRecord | undefined {
    const head = this.#lent(offset, headBytes)
    if (head === undefined) return undefined
    const view = new DataView(head.buffer, head.byteOffset, headBytes)
    const [length, checksum, kind] = [view.getUint32(0), view.getUint32(4), kinds[view.getUint8(8)]]
    if (kind === undefined || length > maxRecordBytes) return undefined
    const record = this.#lent(offset, headBytes + length)
    if (record === undefined || crc32(record.subarray(8)) !== checksum) return undefined
    return { kind, bytes: record.subarray(headBytes) }
  }

  /** Bytes of the file, valid until the next call; undefined when the file has fewer. */
  #lent(offset: number, length: number): Uint8Array | undefined {
    if (offset + length > this.#sizeBytes) return undefined
    if (offset < this.#from || offset + length > this.#to) this.#fill(offset, length)
    return offset + length <= this.#to ? this.#window.subarray(offset - this.#from, offset - this.#from + length) : undefined
  }

  #fill(offset: number, length: number): void {
    if (this.#window.length < length) this.#window = new Uint8Array(Math.max(length, Math.min(windowBytes, this.#sizeBytes)))
    this.#from = offset
    this.#to = offset
    for (let read = -1; read !== 0; this.#to += read) {
      const filled = this.#to - this.#from
      read = readSync(this.#file, this.#window, filled, this.#window.length - filled, this.#to)
    }
  }
}
