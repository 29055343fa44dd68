import { compareBytes } from '#lib/bytes'

export type HashedIndex = { readonly index: number; readonly key: Uint8Array }

const indexBits = 22
const indexSpan = 2 ** indexBits
/** Share of the space for a pass that its expected number of keys takes; the number varies by far less than the rest. */
const expectedShare = 0.95

/**
 * Iterates over indices in the order of their keys, which are hashes. Each pass computes the keys of all indices, and keeps the keys with the pass's
 * first bits: memory is bounded (170 MB) and no file is needed. One pass takes four million indices.
 */
export class HashOrder {
  readonly #space: number
  #keys = new Uint8Array(0)
  #order = new Float64Array(0)

  /** @param space maximum number of keys in memory: at most 2^22 */
  constructor(space = indexSpan) {
    this.#space = Math.min(space, indexSpan)
  }

  /** @param keyOf 32 bytes, distinct and uniformly distributed */
  *of(count: number, keyOf: (index: number) => Uint8Array): Generator<HashedIndex> {
    let passBits = 0
    while (count > this.#space && count / 2 ** passBits > this.#space * expectedShare) passBits++
    this.#reserve(Math.min(count, this.#space))
    for (let pass = 0; pass < 2 ** passBits; pass++) yield* this.#pass(count, keyOf, pass, passBits)
  }

  *#pass(count: number, keyOf: (index: number) => Uint8Array, pass: number, passBits: number): Generator<HashedIndex> {
    const indices = new Uint32Array(Math.min(count, this.#space))
    let found = 0
    for (let index = 0; index < count; index++) {
      const key = keyOf(index)
      const high = wordAt(key, 0)
      if (passBits > 0 && high >>> (32 - passBits) !== pass) continue
      if (found === this.#space) throw new RangeError('the keys are not uniformly distributed')
      const rest = passBits === 0 ? high : ((high << passBits) | (wordAt(key, 4) >>> (32 - passBits))) >>> 0
      this.#keys.set(key, found * 32)
      this.#order[found] = (rest >>> 1) * indexSpan + found
      indices[found++] = index
    }
    const order = this.#order.subarray(0, found).sort()
    this.#sortTies(order)
    for (const packed of order) {
      const at = packed % indexSpan
      yield { index: indices[at] as number, key: this.#keys.slice(at * 32, at * 32 + 32) }
    }
  }

  /** Sorts the keys whose first bits are equal. */
  #sortTies(order: Float64Array): void {
    const bitsAt = (at: number): number => Math.floor((order[at] ?? 0) / indexSpan)
    for (let from = 0; from + 1 < order.length; from++) {
      if (bitsAt(from) !== bitsAt(from + 1)) continue
      let to = from + 2
      while (to < order.length && bitsAt(to) === bitsAt(from)) to++
      order.subarray(from, to).sort((a, b) => compareBytes(this.#keyAt(a % indexSpan), this.#keyAt(b % indexSpan)))
      from = to - 1
    }
  }

  #keyAt(at: number): Uint8Array {
    return this.#keys.subarray(at * 32, at * 32 + 32)
  }

  #reserve(count: number): void {
    if (this.#order.length >= count) return
    const size = Math.min(this.#space, Math.max(1_024, count * 2))
    this.#keys = new Uint8Array(size * 32)
    this.#order = new Float64Array(size)
  }
}

const wordAt = (key: Uint8Array, at: number): number =>
  (((key[at] ?? 0) << 24) | ((key[at + 1] ?? 0) << 16) | ((key[at + 2] ?? 0) << 8) | (key[at + 3] ?? 0)) >>> 0
