import { randomOddWord } from '#lib/random'
import type { Word } from './words.ts'

const secret = randomOddWord()

/**
 * Another name for a word, unlike that of any other word. JavaScript's tables place a bigint by its low 64 bits and by a hash that everybody
 * knows: who chooses slots and addresses could make all of them fall together, and each look-up a walk past all. The low bits of the name
 * depend on the whole word and on a number that only this process knows (multiply-shift hashing).
 */
export function nameOf(word: Word): bigint {
  const product = BigInt.asUintN(256, word * secret)
  return (product >> 192n) | (BigInt.asUintN(192, product) << 64n)
}

/** A map by words that anybody may have chosen. */
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

/** A set of words that anybody may have chosen. */
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
