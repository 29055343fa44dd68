import { lazy } from '#lib/lazy'
import type { Precompile } from './precompile.ts'
import { createPrecompileWasm } from './wasm.ts'

const inputBytes = 213
/** Rounds per call into the module. The engine replaces running code by its optimised form only between calls. A multiple of ten. */
const roundsPerCall = 2_000

const wasm = lazy(createPrecompileWasm)

/**
 * Precompile 0x09: the compression function F of BLAKE2b on rounds ‖ h ‖ m ‖ t ‖ final.
 * Cost: about 20 ns per round, which costs one gas.
 * @see EIP-152, RFC 7693
 */
export const blake2f: Precompile = {
  gas: (input) => (input.length === inputBytes ? BigInt(roundsOf(input)) : 0n),
  run(input): Uint8Array | undefined {
    const final = input[inputBytes - 1] ?? 2
    if (input.length !== inputBytes || final > 1) return undefined
    return compress(input, final)
  },
}

function roundsOf(input: Uint8Array): number {
  return new DataView(input.buffer, input.byteOffset).getUint32(0)
}

/** Runs F. All words are little-endian, in the input and in the module. */
function compress(input: Uint8Array, final: number): Uint8Array {
  const { memory, blake2Input, blake2Begin, blake2Rounds, blake2Finish } = wasm()
  const at = blake2Input()
  const bytes = new Uint8Array(memory.buffer)
  bytes.set(input.subarray(4, inputBytes - 1), at)
  blake2Begin(final)
  for (let left = roundsOf(input); left > 0; left -= roundsPerCall) blake2Rounds(Math.min(left, roundsPerCall))
  blake2Finish()
  return bytes.slice(at, at + 64)
}
