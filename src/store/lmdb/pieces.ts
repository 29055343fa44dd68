import type { TableRows, Transaction } from './tableRows.ts'

/*
 * lmdb stores a value that is longer than a page in neighbouring pages. To find neighbours among its free pages it loads a long list of them, and keeps that list
 * sorted, at the cost of most of a commit; or it makes the file longer. So a table of long values stores each in pieces that take a page: the first one in its row,
 * and the others in a second table.
 *   key ++ index of the piece u16, from 1 on → bytes
 * A piece that fills its page may have another one after it. Rows that schema 8 wrote have their whole value.
 */

/** A longer buffer is not kept. */
const keptBytes = 2 ** 20
/** End of the name of a table of pieces. */
export const piecesSuffix = '.pieces'

function pieceKey(key: Uint8Array, index: number): Uint8Array {
  if (index > 0xffff) throw new RangeError('kv: a value of more than 266 MB')
  const bytes = new Uint8Array(key.length + 2)
  bytes.set(key)
  bytes[key.length] = index >> 8
  bytes[key.length + 1] = index
  return bytes
}

/** Pieces of the values of one table, but for the first ones. */
export class Pieces {
  readonly #rows: TableRows
  #joined = new Uint8Array(0)

  constructor(rows: TableRows) {
    this.#rows = rows
  }

  /** Returns the first piece of a value. */
  firstOf(value: Uint8Array): Uint8Array {
    return value.subarray(0, this.#rows.pieceBytes)
  }

  /** @param first the value of the row @returns the value, in a buffer that the next call may overwrite */
  join(key: Uint8Array, first: Uint8Array, transaction?: Transaction): Uint8Array {
    if (!this.#isFull(first)) return first
    let length = 0
    for (let piece: Uint8Array | undefined = first, next = 1; piece !== undefined; next++) {
      this.#reserve(length, length + piece.length)
      this.#joined.set(piece, length)
      length += piece.length
      piece = this.#isFull(piece) ? this.#read(pieceKey(key, next), transaction) : undefined
    }
    const value = this.#joined.subarray(0, length)
    if (this.#joined.length > keptBytes) this.#joined = new Uint8Array(0)
    return value
  }

  #isFull(piece: Uint8Array | undefined): boolean {
    return piece?.length === this.#rows.pieceBytes
  }

  #read(key: Uint8Array, transaction: Transaction | undefined): Uint8Array | undefined {
    const piece = this.#rows.read(key, transaction)
    if (piece === undefined) this.#rows.requireAbsent(key, transaction)
    return piece
  }

  #reserve(used: number, bytes: number): void {
    if (bytes <= this.#joined.length) return
    const larger = new Uint8Array(Math.max(bytes, 2 * this.#joined.length))
    larger.set(this.#joined.subarray(0, used))
    this.#joined = larger
  }

  /** Writes the other pieces of a value in the current transaction, instead of those of an earlier one. @param before length of the row so far */
  put(key: Uint8Array, value: Uint8Array, before: number | undefined): void {
    let next = 1
    const { pieceBytes } = this.#rows
    for (let at = pieceBytes; at < value.length; at += pieceBytes) {
      this.#rows.put(pieceKey(key, next++), value.subarray(at, at + pieceBytes))
    }
    if (before === pieceBytes) this.#removeFrom(key, next)
  }

  /** Removes the pieces of a value in the current transaction. @param before length of the row */
  remove(key: Uint8Array, before: number | undefined): void {
    if (before === this.#rows.pieceBytes) this.#removeFrom(key, 1)
  }

  #removeFrom(key: Uint8Array, first: number): void {
    for (let index = first; this.#rows.remove(pieceKey(key, index)); ) index++
  }
}
