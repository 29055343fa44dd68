import { bytesFromBigint, concatBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { type Address, addressFromBytes, hashFromBytes } from '#types/ids'

/**
 * Encodes entries as one row: count u32, then the end of each entry u32, counted from the first entry; then the entries. A reader finds one entry
 * without reading the others.
 */
export function encodeRow(entries: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(4 + 4 * entries.length)
  const view = new DataView(head.buffer)
  view.setUint32(0, entries.length)
  let end = 0
  for (const [index, entry] of entries.entries()) {
    end += entry.length
    view.setUint32(4 + 4 * index, end)
  }
  return concatBytes(head, ...entries)
}

export function rowLength(row: Uint8Array): number {
  return u32At(row, 0)
}

/** Returns a view of one entry. @throws RangeError when the row has fewer */
export function rowEntry(row: Uint8Array, index: number): Uint8Array {
  const count = rowLength(row)
  if (index < 0 || index >= count) throw new RangeError(`entry ${index} of ${count}`)
  const base = 4 + 4 * count
  const from = index === 0 ? 0 : u32At(row, 4 * index)
  return row.subarray(base + from, base + u32At(row, 4 + 4 * index))
}

/** A transaction in its stored form: sender, then EIP-2718 bytes. */
export type StoredTransaction = { readonly sender: Address; readonly raw: Uint8Array }

export function encodeStoredTransaction({ sender, raw }: StoredTransaction): Uint8Array {
  return concatBytes(fromHex(sender), raw)
}

export function decodeStoredTransaction(entry: Uint8Array): StoredTransaction {
  return { sender: addressFromBytes(entry.subarray(0, 20)), raw: entry.subarray(20) }
}

/** Returns the key of a block's rows: number, then hash, so that rows are in the order of the chain. */
export function blockKey({ number, hash }: BlockId): Uint8Array {
  return concatBytes(u64Bytes(number), fromHex(hash))
}

export function decodeBlockKey(key: Uint8Array): BlockId {
  return { number: u64FromBytes(key), hash: hashFromBytes(key.subarray(8)) }
}

/** Place of a transaction in the canonical chain. */
export type TransactionLocation = { readonly number: number; readonly index: number }

export function encodeLocation({ number, index }: TransactionLocation): Uint8Array {
  return concatBytes(u64Bytes(number), bytesFromBigint(BigInt(index), 4))
}

export function decodeLocation(value: Uint8Array): TransactionLocation {
  return { number: u64FromBytes(value), index: u32At(value, 8) }
}
