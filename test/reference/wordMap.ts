import { randomBytes } from 'node:crypto'
import { bigintFromBytes } from '#lib/bytes'
import type { Word } from './words.ts'

/** Odd, below 2^256. */
const secret = bigintFromBytes(randomBytes(32)) | 1n

/**
 * Returns a unique name for a word. JavaScript's tables hash a bigint by its low 64 bits with a public function. An attacker could choose slots and
 * addresses that all collide, and each look-up would scan all entries. The low bits of the name depend on the whole word and on a secret of this
 * process (multiply-shift hashing).
 */
export function nameOf(word: Word): bigint {
  const product = BigInt.asUintN(256, word * secret)
  return (product >> 192n) | (BigInt.asUintN(192, product) << 64n)
}

/** A map whose keys are words that an attacker may choose. */
export class WordMap<V> {
  readonly #values = new Map<bigint, V>()

  get(word: Word): V | undefined {
    return this.#values.get(nameOf(word))
  }

  set(word: Word, value: V): this {
    this.#values.set(nameOf(word), value)
    return this
  }

  values(): Iterable<V> {
    return this.#values.values()
  }
}

/** A set of words that an attacker may choose. */
export class WordSet {
  readonly #names = new Set<bigint>()

  add(word: Word): this {
    this.#names.add(nameOf(word))
    return this
  }

  has(word: Word): boolean {
    return this.#names.has(nameOf(word))
  }
}
