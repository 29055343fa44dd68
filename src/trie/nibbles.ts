/** The half-bytes of a key, the high one first, one a byte. */
export function nibblesOf(key: Uint8Array): Uint8Array {
  const out = new Uint8Array(key.length * 2)
  for (let i = 0; i < key.length; i++) {
    const byte = key[i] ?? 0
    out[2 * i] = byte >> 4
    out[2 * i + 1] = byte & 15
  }
  return out
}

/** Where two nibble paths part: the first place at or after `from` where they differ, or the end of the shorter. */
export function partingOf(a: Uint8Array, b: Uint8Array, from: number): number {
  const end = Math.min(a.length, b.length)
  let at = from
  while (at < end && a[at] === b[at]) at++
  return at
}

/** One hex digit a nibble, for messages. */
export function nibbleText(path: Uint8Array): string {
  return Array.from(path, (nibble) => nibble.toString(16)).join('')
}
