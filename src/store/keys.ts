import type { KvReader } from './ports.ts'

/** Longest key of a table, in bytes. */
export const maxKeyBytes = 500

/** Returns the key; throws RangeError unless it has 1 to 500 bytes. */
export function requireKey(key: Uint8Array): Uint8Array {
  if (key.length === 0 || key.length > maxKeyBytes) throw new RangeError(`kv: a key of ${key.length} bytes`)
  return key
}

/** Returns the first key after all keys with the prefix; undefined when there is none. */
export function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  const end = new Uint8Array(prefix) // a slice of a Buffer would change the prefix
  for (let i = end.length - 1; i >= 0; i--) {
    const byte = end[i] ?? 0
    if (byte < 0xff) {
      end[i] = byte + 1
      return end.subarray(0, i + 1)
    }
  }
  return undefined
}

/** Returns whether a table has a row. */
export const hasRows = (reader: Pick<KvReader, 'keys'>, table: number): boolean => [...reader.keys(table, { limit: 1 })].length > 0
