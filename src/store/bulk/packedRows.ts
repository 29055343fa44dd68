/*
 * Rows one after the other in a buffer: u8 table, u8 length of the key, u32 length of the value (little-endian), key, value. A key has 1 to 255 bytes.
 */

/** Bytes before the key of a row. */
const packedHeadBytes = 6

/** Returns one packed row. @throws RangeError on an empty or too long key */
export function packedRow(table: number, key: Uint8Array, value: Uint8Array): Uint8Array {
  if (key.length === 0 || key.length > 255) throw new RangeError(`a key of ${key.length} bytes`)
  const row = Buffer.allocUnsafe(packedHeadBytes + key.length + value.length)
  row[0] = table
  row[1] = key.length
  row.writeUInt32LE(value.length, 2)
  row.set(key, packedHeadBytes)
  row.set(value, packedHeadBytes + key.length)
  return row
}

/** Iterates over packed rows; keys and values are views. */
export function* unpackRows(rows: Uint8Array): Generator<{ readonly table: number; readonly key: Uint8Array; readonly value: Uint8Array }> {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length)
  for (let at = 0; at < rows.length; ) {
    const keyFrom = at + packedHeadBytes
    const valueFrom = keyFrom + (rows[at + 1] ?? 0)
    const end = valueFrom + view.getUint32(at + 2, true)
    yield { table: rows[at] ?? 0, key: rows.subarray(keyFrom, valueFrom), value: rows.subarray(valueFrom, end) }
    at = end
  }
}
