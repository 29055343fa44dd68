import { emptyBytes } from '#lib/bytes'
import { lazy } from '#lib/lazy'
import { booleanWord, type Precompile } from './precompile.ts'
import { createPrecompileWasm } from './wasm.ts'

const inputBytes = 160

const wasm = lazy(createPrecompileWasm)

/**
 * Precompile 0x100: digest ‖ r ‖ s ‖ x ‖ y → one, or no bytes for an invalid signature; it never fails.
 * The two specifications differ in price only. EIP-7951 states two rules of FIPS 186-5, section 6.4.2, that RIP-7212 omits: the sum must not be
 * infinity, and its x is compared modulo n.
 * @param gas 3450 or 6900
 * @see RIP-7212, EIP-7951
 */
export function p256Verify(gas: number): Precompile {
  return {
    gas: () => BigInt(gas),
    run: (input) => (input.length === inputBytes && verify(input) ? booleanWord(true) : emptyBytes),
  }
}

function verify(input: Uint8Array): boolean {
  const { memory, p256Input, p256Verify: verifyInput } = wasm()
  new Uint8Array(memory.buffer).set(input, p256Input())
  return verifyInput() === 1
}
