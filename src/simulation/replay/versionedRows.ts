import { randomBytes } from 'node:crypto'

const keyBytes = 32
const rowBytes = 2 * keyBytes
/** Step, the version before, one further back, how many there are up to it; then the value. */
const linkWords = 4
const [stepAt, beforeAt, jumpAt, countAt] = [0, 1, 2, 3]
const firstRows = 64

/** Room for so much more than before. */
const grown = (length: number): number => Math.ceil(length * 1.5)

/** No key has it: the second half of the key of a row that needs one half only. */
const noKey = new Uint8Array(keyBytes)

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)

/**
 * Rows by key, each with the values that steps of a run have given it: what a row holds after any number of steps is found in the logarithm of the
 * number of its versions. Rows and versions are numbers from 1 on, 0 is none. All lies in a few arrays: there are thousands of them for each
 * block that is kept, and garbage collection looks at none.
 */
export class VersionedRows {
  readonly #versionWords: number
  #keys = new Uint8Array((firstRows + 1) * rowBytes)
  #newest = new Uint32Array(firstRows + 1)
  /** rows by their keys, at most half full; open addressing, by secrets, so that nobody can choose keys that meet */
  #table = new Uint32Array(2 * firstRows)
  readonly #secrets = Uint32Array.from({ length: 4 }, () => randomBytes(4).readUInt32LE() | 1)
  #words: Uint32Array
  #bytes: Uint8Array
  #rows = 0
  #versions = 0

  /** @param valueWords of a value, 4 bytes each */
  constructor(valueWords: number) {
    this.#versionWords = linkWords + valueWords
    this.#words = new Uint32Array((firstRows + 1) * this.#versionWords)
    this.#bytes = new Uint8Array(this.#words.buffer)
  }

  get sizeBytes(): number {
    return this.#keys.length + 4 * (this.#newest.length + this.#table.length + this.#words.length)
  }

  /** How many there are. */
  get rows(): number {
    return this.#rows
  }

  /** The row of a key of 32 bytes, or of two; 0: there is none. */
  find(key: Uint8Array, second: Uint8Array = noKey): number {
    return this.#table[this.#placeOf(key, second)] as number
  }

  /** The row of a key, which need not be there yet. */
  rowOf(key: Uint8Array, second: Uint8Array = noKey): number {
    const place = this.#placeOf(key, second)
    const found = this.#table[place] as number
    return found === 0 ? this.#add(place, key, second) : found
  }

  /** Both halves of a row's key, until the next row is made. */
  keyOf(row: number): readonly [Uint8Array, Uint8Array] {
    const at = row * rowBytes
    return [this.#keys.subarray(at, at + keyBytes), this.#keys.subarray(at + keyBytes, at + rowBytes)]
  }

  /** The last version of a row that a step before `steps` has made. */
  versionBefore(row: number, steps: number): number {
    const words = this.#words
    const size = this.#versionWords
    let version = this.#newest[row] as number
    while (version !== 0 && (words[version * size + stepAt] as number) >= steps) {
      const jump = words[version * size + jumpAt] as number
      const isFar = jump !== 0 && (words[jump * size + stepAt] as number) >= steps
      version = isFar ? jump : (words[version * size + beforeAt] as number)
    }
    return version
  }

  /** A new version of a row, all zeros. @param step not below that of its last one */
  push(row: number, step: number): number {
    const version = this.addLoose()
    const words = this.#words
    const size = this.#versionWords
    const before = this.#newest[row] as number
    const jump = words[before * size + jumpAt] as number
    const second = words[jump * size + jumpAt] as number
    const count = (of: number): number => words[of * size + countAt] as number
    const isEven = count(before) - count(jump) === count(jump) - count(second)
    words[version * size + stepAt] = step
    words[version * size + beforeAt] = before
    words[version * size + jumpAt] = isEven ? second : before
    words[version * size + countAt] = count(before) + 1
    this.#newest[row] = version
    return version
  }

  /** A version that no row has. */
  addLoose(): number {
    const version = ++this.#versions
    if ((version + 1) * this.#versionWords > this.#words.length) {
      const words = new Uint32Array(grown(this.#words.length))
      words.set(this.#words)
      this.#words = words
      this.#bytes = new Uint8Array(words.buffer)
    }
    return version
  }

  stepOf(version: number): number {
    return this.#words[version * this.#versionWords + stepAt] as number
  }

  word(version: number, at: number): number {
    return this.#words[version * this.#versionWords + linkWords + at] as number
  }

  setWord(version: number, at: number, value: number): void {
    this.#words[version * this.#versionWords + linkWords + at] = value
  }

  /** Gives a version the value of another. */
  copyValue(from: number, to: number): void {
    const [source, target] = [from * this.#versionWords + linkWords, to * this.#versionWords + linkWords]
    this.#words.copyWithin(target, source, source + this.#versionWords - linkWords)
  }

  /** The bytes of a value from a word on, until the next version is made. */
  bytes(version: number, at: number, length: number): Uint8Array {
    const from = 4 * (version * this.#versionWords + linkWords + at)
    return this.#bytes.subarray(from, from + length)
  }

  /** The place of a key in the table, or the free one where it would be. */
  #placeOf(key: Uint8Array, second: Uint8Array): number {
    const mask = this.#table.length - 1
    let place = this.#firstPlace(key, 0, second, 0, mask)
    for (;;) {
      const row = this.#table[place] as number
      if (row === 0 || this.#isOf(row, key, second)) return place
      place = (place + 1) & mask
    }
  }

  #firstPlace(key: Uint8Array, keyAt: number, second: Uint8Array, secondAt: number, mask: number): number {
    const [a, b, c, d] = this.#secrets as unknown as readonly [number, number, number, number]
    const ofKey = Math.imul(wordAt(key, keyAt), a) + Math.imul(wordAt(key, keyAt + 4), b)
    const ofSecond = Math.imul(wordAt(second, secondAt), c) + Math.imul(wordAt(second, secondAt + 4), d)
    return ((ofKey + ofSecond) >>> Math.clz32(mask)) & mask
  }

  #isOf(row: number, key: Uint8Array, second: Uint8Array): boolean {
    const keys = this.#keys
    let at = row * rowBytes
    for (let i = 0; i < keyBytes; i++) if (keys[at++] !== key[i]) return false
    for (let i = 0; i < keyBytes; i++) if (keys[at++] !== second[i]) return false
    return true
  }

  #add(place: number, key: Uint8Array, second: Uint8Array): number {
    const row = ++this.#rows
    if (row === this.#newest.length) this.#grow()
    this.#keys.set(key, row * rowBytes)
    this.#keys.set(second, row * rowBytes + keyBytes)
    if (2 * row > this.#table.length) this.#rehash()
    else this.#table[place] = row
    return row
  }

  #grow(): void {
    const length = grown(this.#newest.length)
    const keys = new Uint8Array(length * rowBytes)
    keys.set(this.#keys)
    const newest = new Uint32Array(length)
    newest.set(this.#newest)
    this.#keys = keys
    this.#newest = newest
  }

  #rehash(): void {
    const table = new Uint32Array(2 * this.#table.length)
    const mask = table.length - 1
    for (let row = 1; row <= this.#rows; row++) {
      const at = row * rowBytes
      let place = this.#firstPlace(this.#keys, at, this.#keys, at + keyBytes, mask)
      while (table[place] !== 0) place = (place + 1) & mask
      table[place] = row
    }
    this.#table = table
  }
}
