// Rows for the store, packed one after the other: u8 table, u8 length of the key, u32 length of the value, key, value. `store/bulk/bulkWriter.ts` takes them.

/** Bytes before the key of a row. */
export const headBytes: usize = 6
/** More than one call adds before it looks at `isFull`: the end of 64 branches and extensions, and the rows of an account. */
const reserve: usize = 80 * 1024
export const rowBytes: u32 = 1_048_576

/** The rows. */
export const rows: usize = memory.data(1_048_576, 16)
/** Number of bytes in `rows`. */
export let filled: u32 = 0

// @ts-ignore: decorator
@inline
export function isFull(): bool {
  return usize(filled) + reserve > usize(rowBytes)
}

/** Returns the address for the key of the next row. */
// @ts-ignore: decorator
@inline
export function nextKey(): usize {
  return rows + filled + headBytes
}

/** Adds the row whose key and value were written from `nextKey` on. */
export function endRow(table: u32, keySize: u32, valueSize: u32): void {
  const head = rows + filled
  store<u8>(head, table)
  store<u8>(head, keySize, 1)
  store<u32>(head, valueSize, 2)
  filled += u32(headBytes) + keySize + valueSize
}

/** Drops the rows, which the host has read. */
export function clearRows(): void {
  filled = 0
}
