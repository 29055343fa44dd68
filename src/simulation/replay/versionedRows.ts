import { randomBytes } from 'node:crypto'

const keyBytes = 32
const rowBytes = 2 * keyBytes
/** Words before the value of a version: step, previous version, a version further back, number of versions up to it. */
const linkWords = 4
const [stepAt, beforeAt, jumpAt, countAt] = [0, 1, 2, 3]
const firstRows = 64

/** Returns the length of a grown array: a quarter more, which is the most free memory of a kept replay. */
export const grown = (length: number): number => Math.ceil(length * 1.25)

/** Second half of the key in rows with a key of 32 bytes. No key has this value. */
const noKey = new Uint8Array(keyBytes)

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)

/**
 * Rows by key, each with its values after the steps of a run. The value of a row after a number of steps is found in the logarithm of the number of
 * its versions. Rows and versions are numbers from 1 on; 0 means none. All data are in a few arrays: a block has thousands of versions, and the
 * garbage collector need not visit them.
 */
export class VersionedRows {
  readonly #versionWords: number
  #keys = new Uint8Array((firstRows + 1) * rowBytes)
  #newest = new Uint32Array(firstRows + 1)
  /** hash table of the rows, at most half full, with open addressing; random factors prevent chosen collisions */
  #table = new Uint32Array(2 * firstRows)
  readonly #secrets = Uint32Array.from({ length: 4 }, () => randomBytes(4).readUInt32LE() | 1)
  #words: Uint32Array
  #bytes: Uint8Array
  #rows = 0
  #versions = 0

  /** @param valueWords size of a value in words of 4 bytes */
  constructor(valueWords: number) {
    this.#versionWords = linkWords + valueWords
    this.#words = new Uint32Array((firstRows + 1) * this.#versionWords)
    this.#bytes = new Uint8Array(this.#words.buffer)
  }

  get sizeBytes(): number {
    return this.#keys.length + 4 * (this.#newest.length + this.#table.length + this.#words.length)
  }

  /** Number of rows. */
  get rows(): number {
    return this.#rows
  }

  /** Returns the row of a key of one or two times 32 bytes; 0: there is none. */
  find(key: Uint8Array, second: Uint8Array = noKey): number {
    return this.#table[this.#placeOf(key, second)] as number
  }

  /** Returns the row of a key, which is added if it is new. */
  rowOf(key: Uint8Array, second: Uint8Array = noKey): number {
    const place = this.#placeOf(key, second)
    const found = this.#table[place] as number
    return found === 0 ? this.#add(place, key, second) : found
  }

  /** Returns both halves of a row's key. They are valid until the next row is added. */
  keyOf(row: number): readonly [Uint8Array, Uint8Array] {
    const at = row * rowBytes
    return [this.#keys.subarray(at, at + keyBytes), this.#keys.subarray(at + keyBytes, at + rowBytes)]
  }

  /** Returns the last version of a row from a step below `steps`; 0: there is none. */
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

  /** Adds a version of a row, with all words zero. @param step at least the step of the row's last version */
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

  /** Adds a version that belongs to no row. */
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

  /** Copies the value of a version to another. */
  copyValue(from: number, to: number): void {
    const [source, target] = [from * this.#versionWords + linkWords, to * this.#versionWords + linkWords]
    this.#words.copyWithin(target, source, source + this.#versionWords - linkWords)
  }

  /** Returns bytes of a value from a word on. They are valid until the next version is added. */
  bytes(version: number, at: number, length: number): Uint8Array {
    const from = 4 * (version * this.#versionWords + linkWords + at)
    return this.#bytes.subarray(from, from + length)
  }

  /** Returns the index of a key in the table, or the free index where it belongs. */
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
