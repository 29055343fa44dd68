/** Returns whether all bytes are zero. */
export function isZero(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== 0) return false
  return true
}
