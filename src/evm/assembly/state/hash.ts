// Position of an entry in its index. Attackers choose slot numbers and, by trying, addresses. The position therefore depends on secrets of the
// instance (`ctxSeed`): it is a sum of products of 32-bit halves, each with its own key (multilinear hashing), so that a bad set of words can arise
// only by chance.
import { ctxSeed } from '../layout'

let key0: u64 = 0
let key1: u64 = 0
let key2: u64 = 0
let key3: u64 = 0
let key4: u64 = 0
let key5: u64 = 0
let key6: u64 = 0
let key7: u64 = 0
let key8: u64 = 0

let drawn: u64 = 0

/** Returns the next key: a Weyl sequence from the first secret, mixed with the second. */
function draw(): u64 {
  drawn += 0x9e3779b97f4a7c15
  let x = drawn ^ load<u64>(ctxSeed, 8)
  x = (x ^ (x >>> 30)) * 0xbf58476d1ce4e5b9
  x = (x ^ (x >>> 27)) * 0x94d049bb133111eb
  return x ^ (x >>> 31)
}

/** Derives the keys from the secrets at `ctxSeed`. */
export function drawKeys(): void {
  drawn = load<u64>(ctxSeed)
  key0 = draw()
  key1 = draw()
  key2 = draw()
  key3 = draw()
  key4 = draw()
  key5 = draw()
  key6 = draw()
  key7 = draw()
  key8 = draw() | 1
}

// @ts-ignore: decorator
@inline
function mixed(sum: u64): u64 {
  return (sum ^ (sum >>> 32)) * 0x9e3779b97f4a7c15
}

/** Hashes an address given by its limbs; callers use the high bits. */
// @ts-ignore: decorator
@inline
export function addressHash(low: u64, middle: u64, high: u32): u64 {
  return mixed(
    (key0 + (low & 0xffffffff)) * (key1 + (low >>> 32)) +
      (key2 + (middle & 0xffffffff)) * (key3 + (middle >>> 32)) +
      <u64>high * key8,
  )
}

/** Hashes an entry and a word; callers use the high bits. */
// @ts-ignore: decorator
@inline
export function pairHash(entry: usize, word: usize): u64 {
  const w0 = load<u64>(word)
  const w1 = load<u64>(word, 8)
  const w2 = load<u64>(word, 16)
  const w3 = load<u64>(word, 24)
  return mixed(
    (key0 + (w0 & 0xffffffff)) * (key1 + (w0 >>> 32)) +
      (key2 + (w1 & 0xffffffff)) * (key3 + (w1 >>> 32)) +
      (key4 + (w2 & 0xffffffff)) * (key5 + (w2 >>> 32)) +
      (key6 + (w3 & 0xffffffff)) * (key7 + (w3 >>> 32)) +
      <u64>entry * key8,
  )
}
