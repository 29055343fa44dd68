import { hash } from 'node:crypto'

/** SHA-256: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', bytes, 'buffer'))
}
