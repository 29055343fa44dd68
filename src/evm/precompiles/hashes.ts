import { ripemd160 as ripemd160Of } from '#lib/ripemd160'
import { sha256 as sha256Of } from '#lib/sha256'
import { type Precompile, words } from './precompile.ts'

/** Precompile 0x02. @see Ethereum yellow paper, appendix E */
export const sha256: Precompile = {
  gas: (input) => 60n + 12n * words(input.length),
  run: sha256Of,
}

/** Precompile 0x03: the hash in the low 20 bytes of a word. @see Ethereum yellow paper, appendix E */
export const ripemd160: Precompile = {
  gas: (input) => 600n + 120n * words(input.length),
  run(input): Uint8Array {
    const word = new Uint8Array(32)
    word.set(ripemd160Of(input), 12)
    return word
  },
}

/** Precompile 0x04. @see Ethereum yellow paper, appendix E */
export const identity: Precompile = {
  gas: (input) => 15n + 3n * words(input.length),
  run: (input) => input.slice(),
}
