/** Splits a key into nibbles, high one first, one nibble per byte. */
export function nibblesOf(key: Uint8Array): Uint8Array {
  const out = new Uint8Array(key.length * 2)
  for (let i = 0; i < key.length; i++) {
    const byte = key[i] ?? 0
    out[2 * i] = byte >> 4
    out[2 * i + 1] = byte & 15
  }
  return out
}

/** Returns the first index at or after `from` where two nibble paths differ, or the length of the shorter path. */
export function partingOf(a: Uint8Array, b: Uint8Array, from: number): number {
  const end = Math.min(a.length, b.length)
  let at = from
  while (at < end && a[at] === b[at]) at++
  return at
}

/** Formats a path as one hex digit per nibble, for messages. */
export function nibbleText(path: Uint8Array): string {
  return Array.from(path, (nibble) => nibble.toString(16)).join('')
}
