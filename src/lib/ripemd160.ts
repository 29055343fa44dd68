import { createRIPEMD160 } from 'hash-wasm'

const hasher = await createRIPEMD160()

/** Returns the RIPEMD-160 digest: 20 bytes. */
export function ripemd160(bytes: Uint8Array): Uint8Array {
  return hasher.init().update(bytes).digest('binary')
}
