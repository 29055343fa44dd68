// Keccak-256 (the Keccak submission's padding, not FIPS 202's) over linear memory. Spec: "The Keccak reference", version 3.0.
// Lanes are numbered x + 5y. Lanes 1, 2, 8, 12, 17 and 20 are kept complemented, which turns most of chi's nots into or.

/** The state between permutations: 25 lanes. */
const state: usize = memory.data(200, 16)

const roundConstants: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
])

const rateBytes: u32 = 136
/** Last bit of the padding, in the last lane of the rate. */
const padEnd: u64 = 0x8000000000000000
const ones: u64 = 0xffffffffffffffff

/** Runs 24 rounds on the state, two per pass: from a to b and back. Per output plane: theta, rho and pi of its five lanes, then chi. */
function permute(): void {
  let a0 = load<u64>(state)
  let a1 = load<u64>(state, 8)
  let a2 = load<u64>(state, 16)
  let a3 = load<u64>(state, 24)
  let a4 = load<u64>(state, 32)
  let a5 = load<u64>(state, 40)
  let a6 = load<u64>(state, 48)
  let a7 = load<u64>(state, 56)
  let a8 = load<u64>(state, 64)
  let a9 = load<u64>(state, 72)
  let a10 = load<u64>(state, 80)
  let a11 = load<u64>(state, 88)
  let a12 = load<u64>(state, 96)
  let a13 = load<u64>(state, 104)
  let a14 = load<u64>(state, 112)
  let a15 = load<u64>(state, 120)
  let a16 = load<u64>(state, 128)
  let a17 = load<u64>(state, 136)
  let a18 = load<u64>(state, 144)
  let a19 = load<u64>(state, 152)
  let a20 = load<u64>(state, 160)
  let a21 = load<u64>(state, 168)
  let a22 = load<u64>(state, 176)
  let a23 = load<u64>(state, 184)
  let a24 = load<u64>(state, 192)
  for (let at = roundConstants; at < roundConstants + 192; at += 16) {
    const c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
    const c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
    const c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
    const c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
    const c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
    const d0 = c4 ^ rotl(c1, 1)
    const d1 = c0 ^ rotl(c2, 1)
    const d2 = c1 ^ rotl(c3, 1)
    const d3 = c2 ^ rotl(c4, 1)
    const d4 = c3 ^ rotl(c0, 1)
    const t00 = a0 ^ d0
    const t01 = rotl(a6 ^ d1, 44)
    const t02 = rotl(a12 ^ d2, 43)
    const t03 = rotl(a18 ^ d3, 21)
    const t04 = rotl(a24 ^ d4, 14)
    const b0 = t00 ^ (t01 | t02) ^ load<u64>(at)
    const b1 = t01 ^ (~t02 | t03)
    const b2 = t02 ^ (t03 & t04)
    const b3 = t03 ^ (t04 | t00)
    const b4 = t04 ^ (t00 & t01)
    const t10 = rotl(a3 ^ d3, 28)
    const t11 = rotl(a9 ^ d4, 20)
    const t12 = rotl(a10 ^ d0, 3)
    const t13 = rotl(a16 ^ d1, 45)
    const t14 = rotl(a22 ^ d2, 61)
    const b5 = t10 ^ (t11 | t12)
    const b6 = t11 ^ (t12 & t13)
    const b7 = t12 ^ (t13 | ~t14)
    const b8 = t13 ^ (t14 | t10)
    const b9 = t14 ^ (t10 & t11)
    const t20 = rotl(a1 ^ d1, 1)
    const t21 = rotl(a7 ^ d2, 6)
    const t22 = rotl(a13 ^ d3, 25)
    const t23 = rotl(a19 ^ d4, 8)
    const n23 = ~t23
    const t24 = rotl(a20 ^ d0, 18)
    const b10 = t20 ^ (t21 | t22)
    const b11 = t21 ^ (t22 & t23)
    const b12 = t22 ^ (n23 & t24)
    const b13 = n23 ^ (t24 | t20)
    const b14 = t24 ^ (t20 & t21)
    const t30 = rotl(a4 ^ d4, 27)
    const t31 = rotl(a5 ^ d0, 36)
    const t32 = rotl(a11 ^ d1, 10)
    const t33 = rotl(a17 ^ d2, 15)
    const n33 = ~t33
    const t34 = rotl(a23 ^ d3, 56)
    const b15 = t30 ^ (t31 & t32)
    const b16 = t31 ^ (t32 | t33)
    const b17 = t32 ^ (n33 | t34)
    const b18 = n33 ^ (t34 & t30)
    const b19 = t34 ^ (t30 | t31)
    const t40 = rotl(a2 ^ d2, 62)
    const t41 = rotl(a8 ^ d3, 55)
    const n41 = ~t41
    const t42 = rotl(a14 ^ d4, 39)
    const t43 = rotl(a15 ^ d0, 41)
    const t44 = rotl(a21 ^ d1, 2)
    const b20 = t40 ^ (n41 & t42)
    const b21 = n41 ^ (t42 | t43)
    const b22 = t42 ^ (t43 & t44)
    const b23 = t43 ^ (t44 | t40)
    const b24 = t44 ^ (t40 & t41)
    {
      const c0 = b0 ^ b5 ^ b10 ^ b15 ^ b20
      const c1 = b1 ^ b6 ^ b11 ^ b16 ^ b21
      const c2 = b2 ^ b7 ^ b12 ^ b17 ^ b22
      const c3 = b3 ^ b8 ^ b13 ^ b18 ^ b23
      const c4 = b4 ^ b9 ^ b14 ^ b19 ^ b24
      const d0 = c4 ^ rotl(c1, 1)
      const d1 = c0 ^ rotl(c2, 1)
      const d2 = c1 ^ rotl(c3, 1)
      const d3 = c2 ^ rotl(c4, 1)
      const d4 = c3 ^ rotl(c0, 1)
      const t00 = b0 ^ d0
      const t01 = rotl(b6 ^ d1, 44)
      const t02 = rotl(b12 ^ d2, 43)
      const t03 = rotl(b18 ^ d3, 21)
      const t04 = rotl(b24 ^ d4, 14)
      a0 = t00 ^ (t01 | t02) ^ load<u64>(at, 8)
      a1 = t01 ^ (~t02 | t03)
      a2 = t02 ^ (t03 & t04)
      a3 = t03 ^ (t04 | t00)
      a4 = t04 ^ (t00 & t01)
      const t10 = rotl(b3 ^ d3, 28)
      const t11 = rotl(b9 ^ d4, 20)
      const t12 = rotl(b10 ^ d0, 3)
      const t13 = rotl(b16 ^ d1, 45)
      const t14 = rotl(b22 ^ d2, 61)
      a5 = t10 ^ (t11 | t12)
      a6 = t11 ^ (t12 & t13)
      a7 = t12 ^ (t13 | ~t14)
      a8 = t13 ^ (t14 | t10)
      a9 = t14 ^ (t10 & t11)
      const t20 = rotl(b1 ^ d1, 1)
      const t21 = rotl(b7 ^ d2, 6)
      const t22 = rotl(b13 ^ d3, 25)
      const t23 = rotl(b19 ^ d4, 8)
      const n23 = ~t23
      const t24 = rotl(b20 ^ d0, 18)
      a10 = t20 ^ (t21 | t22)
      a11 = t21 ^ (t22 & t23)
      a12 = t22 ^ (n23 & t24)
      a13 = n23 ^ (t24 | t20)
      a14 = t24 ^ (t20 & t21)
      const t30 = rotl(b4 ^ d4, 27)
      const t31 = rotl(b5 ^ d0, 36)
      const t32 = rotl(b11 ^ d1, 10)
      const t33 = rotl(b17 ^ d2, 15)
      const n33 = ~t33
      const t34 = rotl(b23 ^ d3, 56)
      a15 = t30 ^ (t31 & t32)
      a16 = t31 ^ (t32 | t33)
      a17 = t32 ^ (n33 | t34)
      a18 = n33 ^ (t34 & t30)
      a19 = t34 ^ (t30 | t31)
      const t40 = rotl(b2 ^ d2, 62)
      const t41 = rotl(b8 ^ d3, 55)
      const n41 = ~t41
      const t42 = rotl(b14 ^ d4, 39)
      const t43 = rotl(b15 ^ d0, 41)
      const t44 = rotl(b21 ^ d1, 2)
      a20 = t40 ^ (n41 & t42)
      a21 = n41 ^ (t42 | t43)
      a22 = t42 ^ (t43 & t44)
      a23 = t43 ^ (t44 | t40)
      a24 = t44 ^ (t40 & t41)
    }
  }
  store<u64>(state, a0)
  store<u64>(state, a1, 8)
  store<u64>(state, a2, 16)
  store<u64>(state, a3, 24)
  store<u64>(state, a4, 32)
  store<u64>(state, a5, 40)
  store<u64>(state, a6, 48)
  store<u64>(state, a7, 56)
  store<u64>(state, a8, 64)
  store<u64>(state, a9, 72)
  store<u64>(state, a10, 80)
  store<u64>(state, a11, 88)
  store<u64>(state, a12, 96)
  store<u64>(state, a13, 104)
  store<u64>(state, a14, 112)
  store<u64>(state, a15, 120)
  store<u64>(state, a16, 128)
  store<u64>(state, a17, 136)
  store<u64>(state, a18, 144)
  store<u64>(state, a19, 152)
  store<u64>(state, a20, 160)
  store<u64>(state, a21, 168)
  store<u64>(state, a22, 176)
  store<u64>(state, a23, 184)
  store<u64>(state, a24, 192)
}

/** Clears the lanes from the fourth on. */
// @ts-ignore: decorator
@inline
function clearUpper(): void {
  const none = i64x2.splat(0)
  v128.store(state, none, 32)
  v128.store(state, none, 48)
  store<u64>(state, ones, 64)
  store<u64>(state, 0, 72)
  v128.store(state, none, 80)
  store<u64>(state, ones, 96)
  store<u64>(state, 0, 104)
  v128.store(state, none, 112)
  store<u64>(state, padEnd, 128)
  store<u64>(state, ones, 136)
  v128.store(state, none, 144)
  store<u64>(state, ones, 160)
  store<u64>(state, 0, 168)
  v128.store(state, none, 176)
  store<u64>(state, 0, 192)
}

/** Sets the first four lanes; the second and third are stored complemented. */
// @ts-ignore: decorator
@inline
function setLower(lane0: u64, lane1: u64, lane2: u64, lane3: u64): void {
  store<u64>(state, lane0)
  store<u64>(state, ~lane1, 8)
  store<u64>(state, ~lane2, 16)
  store<u64>(state, lane3, 24)
}

/** Absorbs the last `count` bytes, fewer than 8, and the first padding bit into the lane at `lane`. */
// @ts-ignore: decorator
@inline
function absorbTail(lane: usize, from: usize, count: u32): void {
  let value: u64 = 1
  for (let at = from + count; at > from; ) value = (value << 8) | load<u8>(--at)
  store<u64>(lane, load<u64>(lane) ^ value)
}

/** Absorbs whole lanes. */
// @ts-ignore: decorator
@inline
function absorbLanes(from: usize, bytes: u32): void {
  for (let at: u32 = 0; at < bytes; at += 8) store<u64>(state + at, load<u64>(state + at) ^ load<u64>(from + at))
}

/** Initializes the state for empty input. */
// @ts-ignore: decorator
@inline
export function clear(): void {
  setLower(0, 0, 0, 0)
  clearUpper()
  store<u64>(state, 0, 128)
}

/** Absorbs whole blocks of 136 bytes. */
export function addBlocks(from: usize, size: u32): void {
  for (const end = from + size; from < end; from += rateBytes) {
    absorbLanes(from, rateBytes)
    permute()
  }
}

/** Absorbs the last bytes, of any number, and the padding. One permutation remains to be run. */
// @ts-ignore: decorator
@inline
function addLast(from: usize, size: u32): void {
  while (size >= rateBytes) {
    absorbLanes(from, rateBytes)
    permute()
    from += rateBytes
    size -= rateBytes
  }
  const whole = size & ~7
  absorbLanes(from, whole)
  absorbTail(state + whole, from + whole, size & 7)
  store<u64>(state, load<u64>(state, 128) ^ padEnd, 128)
}

/** Absorbs any number of bytes. */
function absorb(from: usize, size: u32): void {
  clear()
  addLast(from, size)
}

/** Computes the digest into the first four lanes. Inputs of an address, one word and two words, the most frequent sizes, take a direct path. */
function hash(from: usize, size: u32): void {
  if (size == 64) {
    setLower(load<u64>(from), load<u64>(from, 8), load<u64>(from, 16), load<u64>(from, 24))
    clearUpper()
    store<u64>(state, load<u64>(from, 32), 32)
    store<u64>(state, load<u64>(from, 40), 40)
    store<u64>(state, load<u64>(from, 48), 48)
    store<u64>(state, load<u64>(from, 56), 56)
    store<u64>(state, ~(<u64>1), 64)
  } else if (size == 32) {
    setLower(load<u64>(from), load<u64>(from, 8), load<u64>(from, 16), load<u64>(from, 24))
    clearUpper()
    store<u64>(state, 1, 32)
  } else if (size == 20) {
    setLower(load<u64>(from), load<u64>(from, 8), u64(load<u32>(from, 16)) | 0x100000000, 0)
    clearUpper()
  } else {
    absorb(from, size)
  }
  permute()
}

/** Stores the digest from the first four lanes at `to`. */
// @ts-ignore: decorator
@inline
function storeDigest(to: usize): void {
  store<u64>(to, load<u64>(state))
  store<u64>(to, ~load<u64>(state, 8), 8)
  store<u64>(to, ~load<u64>(state, 16), 16)
  store<u64>(to, load<u64>(state, 24), 24)
}

/** Computes the Keccak-256 of `size` bytes at any address: 32 bytes at `to`, which may overlap them. */
export function keccak256(from: usize, size: u32, to: usize): void {
  hash(from, size)
  storeDigest(to)
}

/** Finishes a hash started with `clear` with its last bytes: 32 bytes at `to`. */
export function finish(from: usize, size: u32, to: usize): void {
  addLast(from, size)
  permute()
  storeDigest(to)
}

/** Returns two lanes as bytes in reverse order. */
// @ts-ignore: decorator
@inline
function reversedLanes(low: u64, high: u64): v128 {
  const lanes = i64x2.replace_lane(i64x2.splat(low), 1, high)
  return i8x16.shuffle(lanes, lanes, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

/** Computes the Keccak-256 of `size` bytes at any address, as a word of four limbs at `to`, which may overlap them. */
export function keccak256Word(from: usize, size: u32, to: usize): void {
  hash(from, size)
  v128.store(to, reversedLanes(~load<u64>(state, 16), load<u64>(state, 24)))
  v128.store(to, reversedLanes(load<u64>(state), ~load<u64>(state, 8)), 16)
}
