import { emptyBytes } from '#lib/bytes'
import { recoverAddress } from '#lib/secp256k1'
import { isZero, type Precompile, readPadded } from './precompile.ts'

/** Precompile 0x01: digest ‖ v ‖ r ‖ s → the signer's address as a word; empty output for an invalid signature. @see Ethereum yellow paper, appendix E */
export const ecrecover: Precompile = {
  gas: () => 3000n,
  run(input): Uint8Array {
    const digest = readPadded(input, 0, 32)
    const v = readPadded(input, 32, 32)
    const signature = readPadded(input, 64, 64)
    const low = v[31] ?? 0
    if (!isZero(v.subarray(0, 31)) || (low !== 27 && low !== 28)) return emptyBytes
    const address = recoverAddress(digest, signature, low === 27 ? 0 : 1)
    if (!address) return emptyBytes
    const word = new Uint8Array(32)
    word.set(address, 12)
    return word
  },
}
