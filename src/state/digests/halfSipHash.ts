const state = new Int32Array(4)

/** Mixes a word into the state with a number of rounds. */
function mix(word: number, rounds: number): void {
  let v0 = state[0] as number
  let v1 = state[1] as number
  let v2 = state[2] as number
  let v3 = (state[3] as number) ^ word
  for (let round = 0; round < rounds; round++) {
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
  }
  state[0] = v0 ^ word
  state[1] = v1
  state[2] = v2
  state[3] = v3
}

/** Key of two words, of which the bytes are read in little-endian order. */
export type SipKey = { readonly k0: number; readonly k1: number }

/**
 * HalfSipHash-2-4 with 64 bits: SipHash on words of 32 bits. Without the key, inputs with equal digests cannot be found.
 * @param first four bytes before the input, in little-endian order
 * @param out the two words of the digest
 * @see github.com/veorq/SipHash, halfsiphash.c
 */
export function halfSipHash({ k0, k1 }: SipKey, first: number, input: Uint8Array, out: Uint32Array): void {
  state[0] = k0
  state[1] = k1 ^ 0xee
  state[2] = k0 ^ 0x6c796765
  state[3] = k1 ^ 0x74656462
  mix(first, 2)
  const whole = input.length & ~3
  for (let at = 0; at < whole; at += 4) {
    const low = (input[at] as number) | ((input[at + 1] as number) << 8)
    mix(low | ((input[at + 2] as number) << 16) | ((input[at + 3] as number) << 24), 2)
  }
  let last = (input.length + 4) << 24
  for (let at = whole; at < input.length; at++) last |= (input[at] as number) << (8 * (at - whole))
  mix(last, 2)
  state[2] = (state[2] as number) ^ 0xee
  mix(0, 4)
  out[0] = (state[1] as number) ^ (state[3] as number)
  state[1] = (state[1] as number) ^ 0xdd
  mix(0, 4)
  out[1] = (state[1] as number) ^ (state[3] as number)
}
