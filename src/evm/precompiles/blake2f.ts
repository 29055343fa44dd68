import { blake2bRounds } from '#lib/blake2b'
import type { Precompile } from './precompile.ts'

const inputBytes = 213

/**
 * 0x09: the compression function F of BLAKE2b: rounds ‖ h ‖ m ‖ t ‖ final.
 * Cost: some 20 ns a round, which is a gas.
 * @see EIP-152, RFC 7693
 */
export const blake2f: Precompile = {
  gas: (input) => (input.length === inputBytes ? BigInt(viewOf(input).getUint32(0)) : 0n),
  run(input): Uint8Array | undefined {
    const final = input[inputBytes - 1] ?? 2
    if (input.length !== inputBytes || final > 1) return undefined
    return compress(input, final === 1)
  },
}

/** Fractional parts of the square roots of the first eight primes, each as low and high half. */
const iv = Uint32Array.of(
  ...[0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a],
  ...[0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19],
)

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function xorInto(to: Uint8Array, at: number, from: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[at + i] = (to[at + i] ?? 0) ^ (from[i] ?? 0)
}

/** All words are little-endian, in the input as in the state: bytes do for them. */
function compress(input: Uint8Array, isFinal: boolean): Uint8Array {
  const h = input.slice(4, 68)
  const state = new Uint8Array(128)
  state.set(h)
  iv.forEach((half, i) => {
    viewOf(state).setUint32(64 + 4 * i, half, true)
  })
  xorInto(state, 96, input.subarray(196, 212))
  if (isFinal) xorInto(state, 112, new Uint8Array(8).fill(0xff))
  blake2bRounds(state, input.subarray(68, 196), viewOf(input).getUint32(0))
  xorInto(h, 0, state.subarray(0, 64))
  xorInto(h, 0, state.subarray(64))
  return h
}
