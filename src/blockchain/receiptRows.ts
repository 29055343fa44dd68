import { bigintFromBytes, bytesFromBigint, concatBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex, hexAt } from '#lib/hex'
import type { FoundLog } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import { decodeReceipt, encodeReceipt, type Receipt } from '#types/receipt'
import { encodeRow, rowEntry, rowLength } from './chainRows.ts'

/*
 * Receipts of a block in one row, with the data that place their logs in the chain.
 *   row    0x01 ++ timestamp of the block u64, then entries as in `encodeRow`
 *   entry  gas used u64 ++ index of its first log in the block u32 ++ hash of the transaction ++ EIP-2718 bytes
 * Rows of schema 2 begin with the entries, so with a zero byte, and their entries have no hash.
 */
const marked = 1
const markedHead = 9
const placeBytes = 12
const hashBytes = 32

/** A receipt with the values that otherwise need the receipts before it. */
export type StoredReceipt = {
  readonly receipt: Receipt
  /** gas of this transaction alone */
  readonly gasUsed: bigint
  /** index in the block */
  readonly firstLogIndex: number
}

/** A log with its position in a block. */
export type StoredLog = Omit<FoundLog, 'block'>

/** A receipt with the hash of its transaction. */
export type NamedReceipt = StoredReceipt & { readonly hash: Hash }

/** @param timestamp of the block */
export function encodeReceiptRow(timestamp: number, receipts: readonly NamedReceipt[]): Uint8Array {
  const entries = receipts.map(({ receipt, gasUsed, firstLogIndex, hash }) => {
    const place = [bytesFromBigint(gasUsed, 8), bytesFromBigint(BigInt(firstLogIndex), 4)]
    return concatBytes(...place, fromHex(hash), encodeReceipt(receipt))
  })
  return concatBytes(Uint8Array.of(marked), u64Bytes(timestamp), encodeRow(entries))
}

/** A row of receipts, decoded on demand. It keeps a view of its bytes. */
export class ReceiptRow {
  readonly #entries: Uint8Array
  readonly #encodingFrom: number
  /** of the block; undefined: a row of schema 2, without hashes */
  readonly timestamp: number | undefined

  constructor(bytes: Uint8Array) {
    const isMarked = bytes[0] === marked
    this.#entries = isMarked ? bytes.subarray(markedHead) : bytes
    this.#encodingFrom = isMarked ? placeBytes + hashBytes : placeBytes
    this.timestamp = isMarked ? u64FromBytes(bytes.subarray(1, markedHead)) : undefined
  }

  get count(): number {
    return rowLength(this.#entries)
  }

  /** @throws RangeError beyond the end, as the other readers do */
  gasUsed(index: number): bigint {
    return bigintFromBytes(rowEntry(this.#entries, index).subarray(0, 8))
  }

  firstLogIndex(index: number): number {
    return u32At(rowEntry(this.#entries, index), 8)
  }

  /** EIP-2718 bytes. */
  encoding(index: number): Uint8Array {
    return rowEntry(this.#entries, index).subarray(this.#encodingFrom)
  }

  /** Returns undefined for a row of schema 2. */
  transactionHash(index: number): Uint8Array | undefined {
    if (this.timestamp === undefined) return undefined
    return rowEntry(this.#entries, index).subarray(placeBytes, placeBytes + hashBytes)
  }

  receipt(index: number): StoredReceipt {
    return {
      receipt: decodeReceipt(this.encoding(index)),
      gasUsed: this.gasUsed(index),
      firstLogIndex: this.firstLogIndex(index),
    }
  }

  /** Returns the matching logs of one transaction; they own their bytes. @throws RangeError for a row of schema 2 */
  logs(transactionIndex: number, matcher: LogMatcher): StoredLog[] {
    if (this.timestamp === undefined) throw new RangeError('receipts of schema 2 have no transaction hashes')
    const entry = rowEntry(this.#entries, transactionIndex)
    const found = matcher.decodeFrom(entry.subarray(this.#encodingFrom))
    if (found.length === 0) return []
    const transactionHash = hexAt(entry, placeBytes, hashBytes) as Hash
    const first = u32At(entry, 8)
    return found.map(({ log, at }) => ({ log, transactionHash, transactionIndex, logIndex: first + at }))
  }
}
