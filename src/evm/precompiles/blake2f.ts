import type { Precompile } from './precompile.ts'

const inputBytes = 213

/** 0x09: the compression function F of BLAKE2b: rounds ‖ h ‖ m ‖ t ‖ final. @see EIP-152, RFC 7693 */
export const blake2f: Precompile = {
  gas: (input) => (input.length === inputBytes ? BigInt(viewOf(input).getUint32(0)) : 0n),
  run(input): Uint8Array | undefined {
    const final = input[inputBytes - 1] ?? 2
    if (input.length !== inputBytes || final > 1) return undefined
    return compress(viewOf(input), final === 1)
  },
}

/** Fractional parts of the square roots of the first eight primes, each as low and high half. */
const iv = Uint32Array.of(
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

/** Which four words each of the eight mixings of a round takes: the columns, then the diagonals. */
const lanes: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
]

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** 64-bit words are pairs of 32-bit ones, low half first, as they lie in the input. */
function compress(input: DataView, final: boolean): Uint8Array {
  const rounds = input.getUint32(0)
  const h = readHalves(input, 4, 16)
  const m = readHalves(input, 68, 32)
  const t = readHalves(input, 196, 4)
  const v = new Uint32Array(32)
  v.set(h)
  v.set(iv, 16)
  for (let i = 0; i < 4; i++) v[24 + i] = (v[24 + i] ?? 0) ^ (t[i] ?? 0)
  if (final) for (let i = 28; i < 30; i++) v[i] = ~(v[i] ?? 0)
  for (let round = 0; round < rounds; round++) mixRound(v, m, sigma[round % 10] as Uint8Array)

  const out = new DataView(new ArrayBuffer(64))
  for (let i = 0; i < 16; i++) out.setUint32(4 * i, (h[i] ?? 0) ^ (v[i] ?? 0) ^ (v[16 + i] ?? 0), true)
  return new Uint8Array(out.buffer)
}

function readHalves(input: DataView, at: number, count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => input.getUint32(at + 4 * i, true))
}

function mixRound(v: Uint32Array, m: Uint32Array, order: Uint8Array): void {
  for (let i = 0; i < 8; i++) {
    const [a, b, c, d] = lanes[i] as (typeof lanes)[number]
    mix(v, 2 * a, 2 * b, 2 * c, 2 * d, m, 2 * (order[2 * i] as number), 2 * (order[2 * i + 1] as number))
  }
}

function mix(v: Uint32Array, a: number, b: number, c: number, d: number, m: Uint32Array, x: number, y: number): void {
  addThree(v, a, b, m, x)
  xorRotate(v, d, a, 0)
  addTwo(v, c, d)
  xorRotate(v, b, c, 24)
  addThree(v, a, b, m, y)
  xorRotate(v, d, a, 16)
  addTwo(v, c, d)
  xorRotate(v, b, c, 63)
}

/** v[to] += v[from] */
function addTwo(v: Uint32Array, to: number, from: number): void {
  const low = (v[to] as number) + (v[from] as number)
  v[to + 1] = (v[to + 1] as number) + (v[from + 1] as number) + (low > 0xffffffff ? 1 : 0)
  v[to] = low
}

/** v[to] += v[from] + m[word] */
function addThree(v: Uint32Array, to: number, from: number, m: Uint32Array, word: number): void {
  const low = (v[to] as number) + (v[from] as number) + (m[word] as number)
  v[to + 1] = (v[to + 1] as number) + (v[from + 1] as number) + (m[word + 1] as number) + Math.floor(low / 0x100000000)
  v[to] = low
}

/** v[to] = (v[to] ^ v[from]) rotated right by `bits`; 0 stands for 32. */
function xorRotate(v: Uint32Array, to: number, from: number, bits: 0 | 16 | 24 | 63): void {
  const low = (v[to] as number) ^ (v[from] as number)
  const high = (v[to + 1] as number) ^ (v[from + 1] as number)
  if (bits === 0) {
    v[to] = high
    v[to + 1] = low
  } else if (bits === 63) {
    v[to] = (low << 1) | (high >>> 31)
    v[to + 1] = (high << 1) | (low >>> 31)
  } else {
    v[to] = (low >>> bits) | (high << (32 - bits))
    v[to + 1] = (high >>> bits) | (low << (32 - bits))
  }
}
