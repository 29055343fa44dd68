import { latin1, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { type Entries, EntryList, RunEntries } from './runEntries.ts'

/*
 * Index of the blocks that changed a row, by a digest of the row. Nothing is written at a row's own place: the rows of a block are at places without order,
 * and a page for each would cost more than the rows themselves.
 *   run   kind + level ++ first block u64 ++ slice u32 → entries as of `runEntries.ts`, ascending
 * A run of level n has fanOut^n blocks, from a multiple of fanOut^n on, and is divided by digest into slices of about the size of `sliceBlocks` runs of
 * one block. It is merged from runs of the level below, in steps of 16 slices, one with each block from its own last block on. So the number of the last block
 * tells which slices exist. A read looks into few runs of each level. Other rows may share a digest.
 */
const stepSlices = 16
/** Entries that are read at once, at first and at most. */
const [firstEntries, mostEntries] = [16, 1_024]
/** Rows removed between two calls of `hasTime`. */
const rowsAtOnce = 64

/** Slices of a run that are merged with one block: from `slice`, `count` of them. */
type Step = { readonly level: number; readonly first: number; readonly slice: number; readonly count: number }

/** Blocks of a search. `head`: the last written one */
type BlockSpan = { readonly from: number; readonly to: number; readonly head: number }

const always = (): boolean => true

/** A run as its key names it. */
type Run = { readonly level: number; readonly first: number }

/**
 * `kind`: first byte of the keys of level 0. `fanOut`: 4 or 16, with at most 2^16 blocks in a run of the highest level. `sliceBlocks`: 1, or a divisor of the fan-out:
 * larger slices waste less of their last page, and more is merged at once. `hasHints`: entries have the hints of their changes.
 */
export type RunIndexSettings = {
  readonly table: number
  readonly kind: number
  readonly fanOut: 4 | 16
  readonly levels: number
  readonly sliceBlocks: number
  readonly hasHints?: boolean
}

/** An index in sorted runs. It is written block by block, in order. */
export class RunIndex {
  readonly #table: number
  readonly #kind: number
  readonly #fanOut: number
  readonly #levels: number
  /** blocks of a run by level */
  readonly #widths: readonly number[]
  readonly #sliceBlocks: number
  readonly #entries: RunEntries

  constructor({ table, kind, fanOut, levels, sliceBlocks, hasHints = false }: RunIndexSettings) {
    this.#table = table
    this.#kind = kind
    this.#fanOut = fanOut
    this.#levels = levels
    this.#widths = Array.from({ length: levels + 1 }, (_, level) => fanOut ** level)
    this.#sliceBlocks = sliceBlocks
    this.#entries = new RunEntries(hasHints)
  }

  /** Writes a block's run, and the slices that are merged with this block. @param digests of the rows that it changed @param hints of the changes */
  write(tx: KvWriter, number: number, digests: readonly number[], hints?: readonly number[]): void {
    this.#put(tx, this.#key(0, number, 0), this.#entries.of(digests, hints))
    for (const step of this.#stepsAt(number)) for (const { key, entries } of this.#merged(tx, step)) this.#put(tx, key, entries)
  }

  /** Removes the last block. @param isMerged whether `dropMerged` was called for it: the slices that it merged are written again */
  drop(tx: KvWriter, number: number, isMerged = false): void {
    // the largest run first: it may have merged slices of a smaller run, which the next step splits
    for (const step of [...this.#stepsAt(number)].reverse()) {
      const { level, first, slice, count } = step
      if (isMerged) this.#split(tx, step)
      for (let at = slice; at < slice + count; at++) tx.delete(this.#table, this.#key(level, first, at))
    }
    tx.delete(this.#table, this.#key(0, number, 0))
  }

  /**
   * Removes the slices that were merged with a block, once it will not be dropped: reads find their blocks in the larger runs.
   * @param from slices with earlier blocks stay
   */
  dropMerged(tx: KvWriter, number: number, from = 0): void {
    for (const step of this.#stepsAt(number)) {
      for (const key of this.#sources(step)) if (u64FromBytes(key.subarray(1, 9)) >= from) tx.delete(this.#table, key)
    }
  }

  /**
   * Removes the runs that end at or below `last`, oldest first.
   * @param hasTime called after every few rows; false ends the work
   * @returns whether nothing is left to remove
   */
  prune(tx: KvWriter, last: number, hasTime: () => boolean): boolean {
    for (let level = 0; level <= this.#levels; level++) {
      const end = last + 1 - ((last + 1) % this.#width(level))
      for (let from = this.#key(level, 0, 0); ; ) {
        const keys = [...tx.keys(this.#table, { from, to: this.#key(level, end, 0), limit: rowsAtOnce })]
        for (const key of keys) tx.delete(this.#table, key)
        const newest = keys.at(-1)
        if (newest === undefined || keys.length < rowsAtOnce) break
        if (!hasTime()) return false
        // past the deleted rows, which this transaction would look at again
        from = newest
      }
    }
    return true
  }

  /**
   * Iterates over the blocks from `from` to `to` that may have changed a row, ascending.
   * @param isWanted called right before a block is yielded; false skips a change with this hint
   */
  *blocksUp(
    reader: KvReader,
    digest: number,
    { from, to, head }: BlockSpan,
    isWanted: (hint: number) => boolean = always,
  ): Generator<number> {
    for (let next = from; next <= to; ) {
      const run = this.#largestWith(digest, next, head)
      for (const entry of this.#entriesIn(reader, digest, run, next, 1)) {
        const number = run.first + this.#entries.offsetOf(entry)
        if (number > to) return
        if (isWanted(this.#entries.hintOf(entry))) yield number
      }
      next = run.first + this.#width(run.level)
    }
  }

  /** Iterates over the same blocks from `from` down to `to`, descending. */
  *blocksDown(
    reader: KvReader,
    digest: number,
    { from, to, head }: BlockSpan,
    isWanted: (hint: number) => boolean = always,
  ): Generator<number> {
    for (let next = from; next >= to; ) {
      const run = this.#largestWith(digest, next, head)
      for (const entry of this.#entriesIn(reader, digest, run, next, -1)) {
        const number = run.first + this.#entries.offsetOf(entry)
        if (number < to) return
        if (isWanted(this.#entries.hintOf(entry))) yield number
      }
      next = run.first - 1
    }
  }

  /**
   * Returns the keys of slices written with a block that differ from its changed rows or from the runs below. Blocks up to `oldest` are not compared.
   * @param digests of the rows that the block changed
   */
  damaged(reader: KvReader, number: number, digests: readonly number[], oldest: number): Uint8Array[] {
    const isDamaged = (key: Uint8Array, first: number, expected: Entries): boolean => {
      const later = (entry: number): boolean => first + this.#entries.offsetOf(entry) > oldest
      const found = reader.look(this.#table, key, (row) => (this.#entries.isWhole(row) ? this.#entries.decode(row) : 'damaged'))
      return found === 'damaged' || (found ?? new Float64Array()).filter(later).join() !== expected.filter(later).join()
    }
    const own = this.#key(0, number, 0)
    const damaged = isDamaged(own, number, this.#entries.of(digests)) ? [own] : []
    for (const step of this.#stepsAt(number)) {
      for (const { key, entries } of this.#merged(reader, step)) if (isDamaged(key, step.first, entries)) damaged.push(key)
    }
    return damaged
  }

  /** Returns whether a slice with a key like this may exist. @param head the last block */
  mayExist(key: Uint8Array, head: number): boolean {
    const level = (key[0] ?? 0) - this.#kind
    if (level < 0 || level > this.#levels || key.length !== 13 || u32At(key, 1) >= 2 ** 21) return false
    const [first, slice] = [u64FromBytes(key.subarray(1, 9)), u32At(key, 9)]
    const isPlace = first % this.#width(level) === 0 && slice < this.#slices(level)
    return first <= head && isPlace && this.#isMerged({ level, first }, slice, head)
  }

  /** Number of blocks of a run. */
  #width(level: number): number {
    return this.#widths[level] as number
  }

  /** Number of slices of a run. */
  #slices(level: number): number {
    return Math.max(1, this.#width(level) / this.#sliceBlocks)
  }

  #sliceOf(digest: number, level: number): number {
    return Math.floor((digest * this.#slices(level)) / 2 ** 32)
  }

  #key(level: number, first: number, slice: number): Uint8Array {
    const key = new Uint8Array(13)
    key[0] = this.#kind + level
    key.set(u64Bytes(first), 1)
    // without a DataView, which costs more than the rest of a search
    for (let at = 12, rest = slice; rest > 0; at--, rest >>>= 8) key[at] = rest
    return key
  }

  *#stepsAt(number: number): Generator<Step> {
    for (let level = 1; level <= this.#levels; level++) {
      const [width, slices] = [this.#width(level), this.#slices(level)]
      const after = (number + 1) % width
      const first = number + 1 - after - width
      const count = Math.min(slices, stepSlices)
      if (first >= 0 && after * count < slices) yield { level, first, slice: after * count, count }
    }
  }

  /** Returns whether a slice is merged already. @param head the last block */
  #isMerged({ level, first }: Run, slice: number, head: number): boolean {
    return level === 0 || head + 1 >= first + this.#width(level) + Math.floor(slice / stepSlices)
  }

  /** Returns the largest run with a block whose slice with a digest is merged. */
  #largestWith(digest: number, number: number, head: number): Run {
    for (let level = this.#levels; ; level--) {
      const run = { level, first: number - (number % this.#width(level)) }
      if (this.#isMerged(run, this.#sliceOf(digest, level), head)) return run
    }
  }

  /**
   * Iterates over the entries of a row in a run, from block `start` on. They are read a few at a time: a row that each block changes has up to 65,536 in a
   * run, of which a caller needs the first ones.
   * @param sign 1: ascending; −1: descending
   */
  *#entriesIn(reader: KvReader, digest: number, { level, first }: Run, start: number, sign: 1 | -1): Generator<number> {
    const key = this.#key(level, first, this.#sliceOf(digest, level))
    const own = this.#entries.moved(this.#entries.lowest(digest), start - first)
    let beyond = sign === 1 ? own - 1 : this.#entries.moved(own, 1)
    for (let limit = firstEntries; ; limit = Math.min(2 * limit, mostEntries)) {
      const found = reader.look(this.#table, key, (slice) => this.#entries.find(slice, digest, { beyond, sign, limit })) ?? []
      yield* found
      if (found.length < limit) return
      beyond = found.at(-1) as number
    }
  }

  /** Iterates over the keys of the slices that a step merges. */
  *#sources({ level, first, slice, count }: Step): Generator<Uint8Array> {
    const ratio = this.#slices(level) / this.#slices(level - 1)
    for (let part = 0; part < this.#fanOut; part++) {
      for (let below = slice / ratio; below < (slice + count) / ratio; below++) {
        yield this.#key(level - 1, first + part * this.#width(level - 1), below)
      }
    }
  }

  /** Writes the slices again that a step merged. */
  #split(tx: KvWriter, { level, first, slice, count }: Step): void {
    const width = this.#width(level - 1)
    const parts = new Map<string, { readonly key: Uint8Array; readonly entries: number[] }>()
    for (let at = slice; at < slice + count; at++) {
      tx.look(this.#table, this.#key(level, first, at), (row) => {
        for (const entry of this.#entries.decode(row)) {
          const part = Math.floor(this.#entries.offsetOf(entry) / width)
          const key = this.#key(level - 1, first + part * width, this.#sliceOf(this.#entries.digestOf(entry), level - 1))
          const name = latin1(key)
          const entries: number[] = parts.get(name)?.entries ?? []
          entries.push(this.#entries.moved(entry, -part * width))
          parts.set(name, { key, entries })
        }
      })
    }
    for (const { key, entries } of parts.values()) this.#put(tx, key, Float64Array.from(entries).sort())
  }

  /** Iterates over the slices of a step, merged from the runs below. */
  *#merged(reader: KvReader, { level, first, slice, count }: Step): Generator<{ readonly key: Uint8Array; readonly entries: Entries }> {
    const all = new EntryList(this.#entries)
    for (const key of this.#sources({ level, first, slice, count })) {
      const blocks = u64FromBytes(key.subarray(1, 9)) - first
      reader.look(this.#table, key, (row) => all.add(row, blocks))
    }
    const sorted = all.entries().sort()
    let from = 0
    for (let to = slice; to < slice + count; to++) {
      const end = lowerBound(sorted, this.#entries.lowest((2 ** 32 * (to + 1)) / this.#slices(level)))
      yield { key: this.#key(level, first, to), entries: sorted.subarray(from, end) }
      from = end
    }
  }

  #put(tx: KvWriter, key: Uint8Array, entries: Entries): void {
    if (entries.length === 0) return
    tx.put(this.#table, key, this.#entries.encode(entries))
  }
}

function lowerBound(sorted: Float64Array, entry: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) < entry) low = middle + 1
    else high = middle
  }
  return low
}
