import { crc32 } from 'node:zlib'

/*
 * lmdb maps its file and has no checksum of a page, so a byte that flipped on the disk or in memory would be read as it is. Each row has one: its last four bytes.
 *   value ++ checksum u32 of table id, key and value
 * Any change within four neighbouring bytes of a key or a value changes the sum.
 */

/** Bytes of a checksum. */
export const sumBytes = 4
/** From this size on, the call of a native function is faster than the loop. */
const nativeBytes = 256

/** Each step is one-to-one in the hash and in the bytes that it adds. */
function mixed(seed: number, bytes: Uint8Array, length: number): number {
  let hash = seed
  let at = 0
  for (; at + 3 < length; at += 4) {
    const word =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
    hash = Math.imul(hash ^ word, 0x9e3779b1)
    hash = (hash << 13) | (hash >>> 19)
  }
  for (; at < length; at++) {
    hash = Math.imul(hash ^ (bytes[at] as number), 0x9e3779b1)
    hash = (hash << 13) | (hash >>> 19)
  }
  return hash
}

/** Returns the checksum of a row, a u32. @param table id of its table @param value begins with the value @param length of the value */
export function rowSum(table: number, key: Uint8Array, value: Uint8Array, length: number): number {
  const seed = mixed(Math.imul(table + 1, 0x85ebca6b) ^ length, key, key.length)
  return length < nativeBytes ? mixed(seed, value, length) >>> 0 : crc32(value.subarray(0, length), seed >>> 0)
}
