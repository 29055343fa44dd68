import type { Precompile } from './precompile.ts'

const inputBytes = 213

/**
 * 0x09: the compression function F of BLAKE2b: rounds ‖ h ‖ m ‖ t ‖ final.
 * Cost: some 0.18 µs a round, which is a gas.
 * @see EIP-152, RFC 7693
 */
export const blake2f: Precompile = {
  gas: (input) => (input.length === inputBytes ? BigInt(viewOf(input).getUint32(0)) : 0n),
  run(input): Uint8Array | undefined {
    const final = input[inputBytes - 1] ?? 2
    if (input.length !== inputBytes || final > 1) return undefined
    return compress(viewOf(input), final === 1)
  },
}

/** Fractional parts of the square roots of the first eight primes, each as low and high half. */
const iv = Int32Array.of(
  ...[0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a],
  ...[0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19],
)

const sigma: readonly Uint8Array[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
].map((row) => Uint8Array.from(row))

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** 64-bit words are pairs of 32-bit ones, low half first, as they lie in the input. */
function compress(input: DataView, final: boolean): Uint8Array {
  const rounds = input.getUint32(0)
  const h = readHalves(input, 4, 16)
  const m = readHalves(input, 68, 32)
  const t = readHalves(input, 196, 4)
  const v = new Int32Array(32)
  v.set(h)
  v.set(iv, 16)
  for (let i = 0; i < 4; i++) v[24 + i] = (v[24 + i] ?? 0) ^ (t[i] ?? 0)
  if (final) for (let i = 28; i < 30; i++) v[i] = ~(v[i] ?? 0)
  for (let round = 0; round < rounds; round++) mixRound(v, m, sigma[round % 10] as Uint8Array)

  const out = new DataView(new ArrayBuffer(64))
  for (let i = 0; i < 16; i++) out.setUint32(4 * i, (h[i] ?? 0) ^ (v[i] ?? 0) ^ (v[16 + i] ?? 0), true)
  return new Uint8Array(out.buffer)
}

function readHalves(input: DataView, at: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => input.getUint32(at + 4 * i, true))
}

/** The four columns of v as a square of words, then its diagonals; words are two halves wide. */
function mixRound(v: Int32Array, m: Int32Array, order: Uint8Array): void {
  mix(v, 0, 8, 16, 24, m, at(order, 0), at(order, 1))
  mix(v, 2, 10, 18, 26, m, at(order, 2), at(order, 3))
  mix(v, 4, 12, 20, 28, m, at(order, 4), at(order, 5))
  mix(v, 6, 14, 22, 30, m, at(order, 6), at(order, 7))
  mix(v, 0, 10, 20, 30, m, at(order, 8), at(order, 9))
  mix(v, 2, 12, 22, 24, m, at(order, 10), at(order, 11))
  mix(v, 4, 14, 16, 26, m, at(order, 12), at(order, 13))
  mix(v, 6, 8, 18, 28, m, at(order, 14), at(order, 15))
}

function at(order: Uint8Array, index: number): number {
  return 2 * (order[index] as number)
}

/**
 * G of RFC 7693, section 3.1, on the words at a, b, c, d of v, with two words of the message. Each word is loaded and stored once: sums of
 * low halves are exact as doubles, and what they carry goes to the high halves.
 */
function mix(v: Int32Array, a: number, b: number, c: number, d: number, m: Int32Array, x: number, y: number): void {
  let bLow = load(v, b)
  let bHigh = load(v, b + 1)

  let sum = (load(v, a) >>> 0) + (bLow >>> 0) + (load(m, x) >>> 0)
  let aLow = sum | 0
  let aHigh = (load(v, a + 1) + bHigh + load(m, x + 1) + carryOf(sum)) | 0
  const dLow32 = load(v, d + 1) ^ aHigh
  const dHigh32 = load(v, d) ^ aLow

  sum = (load(v, c) >>> 0) + (dLow32 >>> 0)
  let cLow = sum | 0
  let cHigh = (load(v, c + 1) + dHigh32 + carryOf(sum)) | 0
  const bLowMixed = bLow ^ cLow
  const bHighMixed = bHigh ^ cHigh
  bLow = (bLowMixed >>> 24) | (bHighMixed << 8)
  bHigh = (bHighMixed >>> 24) | (bLowMixed << 8)

  sum = (aLow >>> 0) + (bLow >>> 0) + (load(m, y) >>> 0)
  aLow = sum | 0
  aHigh = (aHigh + bHigh + load(m, y + 1) + carryOf(sum)) | 0
  const dLowMixed = dLow32 ^ aLow
  const dHighMixed = dHigh32 ^ aHigh
  const dLow = (dLowMixed >>> 16) | (dHighMixed << 16)
  const dHigh = (dHighMixed >>> 16) | (dLowMixed << 16)

  sum = (cLow >>> 0) + (dLow >>> 0)
  cLow = sum | 0
  cHigh = (cHigh + dHigh + carryOf(sum)) | 0
  const bLowLast = bLow ^ cLow
  const bHighLast = bHigh ^ cHigh

  v[a] = aLow
  v[a + 1] = aHigh
  v[b] = (bLowLast << 1) | (bHighLast >>> 31)
  v[b + 1] = (bHighLast << 1) | (bLowLast >>> 31)
  v[c] = cLow
  v[c + 1] = cHigh
  v[d] = dLow
  v[d + 1] = dHigh
}

function load(words: Int32Array, index: number): number {
  return words[index] as number
}

function carryOf(sum: number): number {
  return (sum / 0x100000000) | 0
}
