import { u32At } from '#lib/bytes'

/*
 * Entries of a run: digest of the changed row u32 ++ block - first block u16, with hints ++ hint u8. In memory an entry is one number, in the order of
 * digest, block and hint.
 */
const offsets = 2 ** 16
/** Hints are below it. */
const hintLimit = 2 ** 5

/** Entries in memory: (digest × 2^16 + block - first block) × number of hints + hint. */
export type Entries = Float64Array

/** Search of entries of a digest: the first `limit` above the entry `beyond`, ascending, or below it, descending, as `sign` names. */
export type EntrySearch = { readonly beyond: number; readonly sign: 1 | -1; readonly limit: number }

/** Format of the entries of an index. */
export class RunEntries {
  readonly #bytes: number
  readonly #hints: number

  constructor(hasHints: boolean) {
    this.#bytes = hasHints ? 7 : 6
    this.#hints = hasHints ? hintLimit : 1
  }

  /** Returns the entries of the first block of a run. @param hints of the digests; absent: 0 */
  of(digests: readonly number[], hints?: readonly number[]): Entries {
    const entries = new Float64Array(digests.length)
    let isSorted = true
    for (let i = 0; i < digests.length; i++) {
      entries[i] = this.lowest(digests[i] as number) + (hints?.[i] ?? 0)
      isSorted &&= i === 0 || (entries[i - 1] as number) <= (entries[i] as number)
    }
    return isSorted ? entries : entries.sort()
  }

  /** Returns the lowest entry of a digest. */
  lowest(digest: number): number {
    return digest * offsets * this.#hints
  }

  digestOf(entry: number): number {
    return Math.floor(entry / (offsets * this.#hints))
  }

  /** Returns block - first block of an entry. */
  offsetOf(entry: number): number {
    return Math.floor(entry / this.#hints) % offsets
  }

  hintOf(entry: number): number {
    return entry % this.#hints
  }

  /** Returns an entry with another first block. @param blocks from the new first block to that of the entry */
  moved(entry: number, blocks: number): number {
    return entry + blocks * this.#hints
  }

  encode(entries: Entries): Uint8Array {
    const row = new Uint8Array(this.#bytes * entries.length)
    const view = new DataView(row.buffer)
    for (let i = 0; i < entries.length; i++) {
      const [entry, at] = [entries[i] as number, this.#bytes * i]
      view.setUint32(at, this.digestOf(entry))
      view.setUint16(at + 4, this.offsetOf(entry))
      if (this.#hints > 1) row[at + 6] = this.hintOf(entry)
    }
    return row
  }

  /** Returns whether a row has whole entries. */
  isWhole(row: Uint8Array): boolean {
    return row.length % this.#bytes === 0
  }

  /** Returns the whole entries of a row. */
  decode(row: Uint8Array): Entries {
    const list = new EntryList(this)
    list.add(row, 0)
    return list.entries()
  }

  /** Returns the number of whole entries in a row. */
  countIn(row: Uint8Array): number {
    return Math.floor(row.length / this.#bytes)
  }

  /** Returns an entry of a row. */
  at(row: Uint8Array, index: number): number {
    const start = this.#bytes * index
    const offset = (row[start + 4] as number) * 256 + (row[start + 5] as number)
    const entry = u32At(row, start) * offsets + offset
    return this.#hints > 1 ? entry * hintLimit + ((row[start + 6] as number) % hintLimit) : entry
  }

  /** Writes the whole entries of a row to `out` from an index on. @param blocks added to their blocks */
  decodeTo(out: Entries, from: number, row: Uint8Array, blocks: number): void {
    const view = new DataView(row.buffer, row.byteOffset, row.length)
    const [bytes, count, hasHints] = [this.#bytes, this.countIn(row), this.#hints > 1]
    for (let i = 0, start = 0; i < count; i++, start += bytes) {
      const entry = view.getUint32(start) * offsets + view.getUint16(start + 4) + blocks
      out[from + i] = hasHints ? entry * hintLimit + (view.getUint8(start + 6) % hintLimit) : entry
    }
  }

  /** Returns the entries of a digest that a search names. */
  find(row: Uint8Array, digest: number, { beyond, sign, limit }: EntrySearch): number[] {
    const count = this.countIn(row)
    // the first entry that is above `beyond`, or not below it
    const least = sign === 1 ? beyond + 1 : beyond
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.at(row, middle) < least) low = middle + 1
      else high = middle
    }
    const found: number[] = []
    for (let i = sign === 1 ? low : low - 1; i >= 0 && i < count && found.length < limit; i += sign) {
      const entry = this.at(row, i)
      if (this.digestOf(entry) !== digest) break
      found.push(entry)
    }
    return found
  }
}

/** Entries of several rows, without an order. */
export class EntryList {
  readonly #format: RunEntries
  #entries = new Float64Array(4_096)
  #length = 0

  constructor(format: RunEntries) {
    this.#format = format
  }

  /** Adds the whole entries of a row. @param blocks added to their blocks */
  add(row: Uint8Array, blocks: number): void {
    const count = this.#format.countIn(row)
    while (this.#length + count > this.#entries.length) {
      const larger = new Float64Array(2 * this.#entries.length)
      larger.set(this.#entries)
      this.#entries = larger
    }
    this.#format.decodeTo(this.#entries, this.#length, row, blocks)
    this.#length += count
  }

  /** Returns the entries, which share the memory of this list. */
  entries(): Entries {
    return this.#entries.subarray(0, this.#length)
  }
}
