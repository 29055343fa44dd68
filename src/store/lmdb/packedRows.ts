import type { DraftRow, DraftRows } from './draft.ts'

/** A row of a table, as it crosses to another thread. */
export type PackedRow = DraftRow & { readonly table: number }

/** Header of a row: table u16, bytes of the key u16, bytes of the value plus one u32. */
const headerBytes = 8
const headerWords = headerBytes / 4
const words = (bytes: number): number => (bytes + 3) >> 2

/** Packs the rows to store, in their order, into one buffer of their own: header, key and value of each, in whole words. A deleted row has size 0. */
export function packRows(drafted: DraftRows): Uint8Array<ArrayBuffer> {
  let total = 0
  for (const { rows } of drafted.all()) for (const { key, value } of rows) total += headerWords + words(key.length + (value?.length ?? 0))
  const header = new Uint32Array(total)
  const bytes = new Uint8Array(header.buffer)
  let at = 0
  for (const { table, rows } of drafted.all()) {
    for (const { key, value } of rows) {
      header[at] = table | (key.length << 16)
      header[at + 1] = value === undefined ? 0 : value.length + 1
      const keyAt = at * 4 + headerBytes
      bytes.set(key, keyAt)
      if (value) bytes.set(value, keyAt + key.length)
      at += headerWords + words(key.length + (value?.length ?? 0))
    }
  }
  return bytes
}

/** Iterates over packed rows. Keys and values are parts of the buffer. */
export function* unpackRows(bytes: Uint8Array): Generator<PackedRow> {
  const header = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  for (let at = 0; at < header.length; ) {
    const [first, size] = [header[at] as number, header[at + 1] as number]
    const keyAt = at * 4 + headerBytes
    const valueAt = keyAt + (first >>> 16)
    const valueEnd = valueAt + Math.max(0, size - 1)
    const value = size === 0 ? undefined : bytes.subarray(valueAt, valueEnd)
    yield { table: first & 0xffff, key: bytes.subarray(keyAt, valueAt), value }
    at += headerWords + words(valueEnd - keyAt)
  }
}
