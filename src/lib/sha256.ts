import { hash } from 'node:crypto'

/** Returns the SHA-256 digest: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', bytes, 'buffer'))
}
