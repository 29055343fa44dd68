import { crc32 } from 'node:zlib'

/*
 * lmdb maps its file and has no checksum of a page, so a byte that flipped on the disk or in memory would be read as it is. Each row has one: its last four bytes.
 *   value ++ CRC-32 u32 of table id u16, key and value
 * It differs after any change of up to 32 neighbouring bits, and after any two flipped bits.
 */

/** Bytes of a checksum. */
export const sumBytes = 4
/** From this size on, the call of a native function is faster than the loop. */
const nativeBytes = 256

/** Tables for four bytes at a time: `tables[n]` has the remainders of a byte that n others follow. */
const tables: readonly Int32Array[] = [0, 1, 2, 3].map(() => new Int32Array(256))
for (let byte = 0; byte < 256; byte++) {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  ;(tables[0] as Int32Array)[byte] = rest
}
for (let n = 1; n < 4; n++) {
  const [before, first] = [tables[n - 1] as Int32Array, tables[0] as Int32Array]
  for (let byte = 0; byte < 256; byte++) {
    const rest = before[byte] as number
    ;(tables[n] as Int32Array)[byte] = (rest >>> 8) ^ (first[rest & 0xff] as number)
  }
}
const [t0, t1, t2, t3] = tables as [Int32Array, Int32Array, Int32Array, Int32Array]

/** Returns the remainder after some bytes, without the inversions at the start and the end. */
function added(rest: number, bytes: Uint8Array, length: number): number {
  let at = 0
  for (; at + 3 < length; at += 4) {
    rest ^= (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
    rest =
      (t3[rest & 0xff] as number) ^ (t2[(rest >>> 8) & 0xff] as number) ^ (t1[(rest >>> 16) & 0xff] as number) ^ (t0[rest >>> 24] as number)
  }
  for (; at < length; at++) rest = (rest >>> 8) ^ (t0[(rest ^ (bytes[at] as number)) & 0xff] as number)
  return rest
}

/** Returns the checksum of a row, a u32. @param table id of its table, a u16 @param value begins with the value @param length of the value */
export function rowSum(table: number, key: Uint8Array, value: Uint8Array, length: number): number {
  let rest = ~0
  rest = (rest >>> 8) ^ (t0[(rest ^ (table >>> 8)) & 0xff] as number)
  rest = (rest >>> 8) ^ (t0[(rest ^ table) & 0xff] as number)
  rest = added(rest, key, key.length)
  return length < nativeBytes ? ~added(rest, value, length) >>> 0 : crc32(value.subarray(0, length), ~rest >>> 0)
}
