import { Buffer } from 'node:buffer'
import { createKeccak } from 'hash-wasm'

const hasher = await createKeccak(256)

/** Keccak-256: 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary')
}

/** Keccak-256 of the parts one after another, without joining them. */
export function keccak256Of(...parts: readonly Uint8Array[]): Uint8Array {
  hasher.init()
  for (const part of parts) hasher.update(part)
  return hasher.digest('binary')
}

/** Keccak-256 of a text's UTF-8 bytes. */
export function keccak256Text(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'utf8'))
}
