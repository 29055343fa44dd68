// Compression function F of BLAKE2b with any number of rounds. The sixteen words of the state are local variables, and the eight mixings of a round
// are
// written out, because a function of this language cannot change its caller's variables.
// RFC 7693: 2.7 for the order of message words, 3.1 for the mixing, 3.2 for F.

/** h ‖ m ‖ t: 8, 16 and 2 words, little-endian. */
const input: usize = memory.data(208)
const message: usize = input + 64
const offset: usize = input + 192

/** The working state. */
const state: usize = memory.data(128)

/** Message word of each mixing; repeats after ten rounds. */
const schedule: usize = memory.data<u8>([
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3,
  11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4,
  7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8,
  9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13,
  2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9,
  12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11,
  13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10,
  6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5,
  10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0,
])
const rowBytes: usize = 16
const scheduleEnd: usize = schedule + 10 * rowBytes

/** Fractional parts of the square roots of the first eight primes. */
const initial: usize = memory.data<u64>([
  0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
  0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
])

/** Address at which the host writes h ‖ m ‖ t; the result replaces h. */
export function blake2Input(): usize {
  return input
}

/** Initializes the state from the input, before the first round. */
export function blake2Begin(isFinal: bool): void {
  memory.copy(state, input, 64)
  memory.copy(state + 64, initial, 64)
  store<u64>(state, load<u64>(state, 96) ^ load<u64>(offset), 96)
  store<u64>(state, load<u64>(state, 104) ^ load<u64>(offset, 8), 104)
  if (isFinal) store<u64>(state, ~load<u64>(state, 112), 112)
}

/** Writes the result, after the last round. */
export function blake2Finish(): void {
  for (let i: usize = 0; i < 64; i += 8) {
    store<u64>(input + i, load<u64>(input + i) ^ load<u64>(state + i) ^ load<u64>(state + i, 64))
  }
}

// @ts-ignore: the compiler's decorator
@inline
function word(row: usize, index: usize): u64 {
  return load<u64>(message + (<usize>load<u8>(row + index) << 3))
}

/** Runs `count` rounds, starting with the first order of message words. Every call but the last must run a multiple of ten rounds. */
export function blake2Rounds(count: u32): void {
  let v0 = load<u64>(state, 0)
  let v1 = load<u64>(state, 8)
  let v2 = load<u64>(state, 16)
  let v3 = load<u64>(state, 24)
  let v4 = load<u64>(state, 32)
  let v5 = load<u64>(state, 40)
  let v6 = load<u64>(state, 48)
  let v7 = load<u64>(state, 56)
  let v8 = load<u64>(state, 64)
  let v9 = load<u64>(state, 72)
  let v10 = load<u64>(state, 80)
  let v11 = load<u64>(state, 88)
  let v12 = load<u64>(state, 96)
  let v13 = load<u64>(state, 104)
  let v14 = load<u64>(state, 112)
  let v15 = load<u64>(state, 120)
  let row = schedule
  for (; count > 0; count--) {
    v0 += v4 + word(row, 0)
    v12 = rotr(v12 ^ v0, 32)
    v8 += v12
    v4 = rotr(v4 ^ v8, 24)
    v0 += v4 + word(row, 1)
    v12 = rotr(v12 ^ v0, 16)
    v8 += v12
    v4 = rotr(v4 ^ v8, 63)
    v1 += v5 + word(row, 2)
    v13 = rotr(v13 ^ v1, 32)
    v9 += v13
    v5 = rotr(v5 ^ v9, 24)
    v1 += v5 + word(row, 3)
    v13 = rotr(v13 ^ v1, 16)
    v9 += v13
    v5 = rotr(v5 ^ v9, 63)
    v2 += v6 + word(row, 4)
    v14 = rotr(v14 ^ v2, 32)
    v10 += v14
    v6 = rotr(v6 ^ v10, 24)
    v2 += v6 + word(row, 5)
    v14 = rotr(v14 ^ v2, 16)
    v10 += v14
    v6 = rotr(v6 ^ v10, 63)
    v3 += v7 + word(row, 6)
    v15 = rotr(v15 ^ v3, 32)
    v11 += v15
    v7 = rotr(v7 ^ v11, 24)
    v3 += v7 + word(row, 7)
    v15 = rotr(v15 ^ v3, 16)
    v11 += v15
    v7 = rotr(v7 ^ v11, 63)
    v0 += v5 + word(row, 8)
    v15 = rotr(v15 ^ v0, 32)
    v10 += v15
    v5 = rotr(v5 ^ v10, 24)
    v0 += v5 + word(row, 9)
    v15 = rotr(v15 ^ v0, 16)
    v10 += v15
    v5 = rotr(v5 ^ v10, 63)
    v1 += v6 + word(row, 10)
    v12 = rotr(v12 ^ v1, 32)
    v11 += v12
    v6 = rotr(v6 ^ v11, 24)
    v1 += v6 + word(row, 11)
    v12 = rotr(v12 ^ v1, 16)
    v11 += v12
    v6 = rotr(v6 ^ v11, 63)
    v2 += v7 + word(row, 12)
    v13 = rotr(v13 ^ v2, 32)
    v8 += v13
    v7 = rotr(v7 ^ v8, 24)
    v2 += v7 + word(row, 13)
    v13 = rotr(v13 ^ v2, 16)
    v8 += v13
    v7 = rotr(v7 ^ v8, 63)
    v3 += v4 + word(row, 14)
    v14 = rotr(v14 ^ v3, 32)
    v9 += v14
    v4 = rotr(v4 ^ v9, 24)
    v3 += v4 + word(row, 15)
    v14 = rotr(v14 ^ v3, 16)
    v9 += v14
    v4 = rotr(v4 ^ v9, 63)
    row += rowBytes
    if (row == scheduleEnd) row = schedule
  }
  store<u64>(state, v0, 0)
  store<u64>(state, v1, 8)
  store<u64>(state, v2, 16)
  store<u64>(state, v3, 24)
  store<u64>(state, v4, 32)
  store<u64>(state, v5, 40)
  store<u64>(state, v6, 48)
  store<u64>(state, v7, 56)
  store<u64>(state, v8, 64)
  store<u64>(state, v9, 72)
  store<u64>(state, v10, 80)
  store<u64>(state, v11, 88)
  store<u64>(state, v12, 96)
  store<u64>(state, v13, 104)
  store<u64>(state, v14, 112)
  store<u64>(state, v15, 120)
}
