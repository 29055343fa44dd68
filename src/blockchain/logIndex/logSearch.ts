import type { KvReader } from '#store/ports'
import type { LogSearch } from '#types/chainView'
import type { WantedLogs } from '#types/logMatcher'
import { readIndexMark, readLogsPruned } from './logIndex.ts'
import {
  addBlockPlaces,
  addSegmentPlaces,
  allPlaces,
  type BlockEnds,
  digestAt,
  type LogPosition,
  lookAtEnds,
  openBlock,
  type PlaceRange,
  type Segment,
  segmentsFrom,
} from './logIndexRows.ts'

type LogPlaces = Extract<LogSearch, { kind: 'found' }>['places']

/** Bounds of one search: rows read and transactions returned before the caller calls again. */
const bounds = { rows: 512, transactions: 1_024 }
/** With at most this many candidates, reading them is cheaper than searching on. */
const fewPlaces = 4
/** A common value is skipped for this many segments. */
const commonSegments = 8
/** Order of positions, the most selective first: topics after the first, the address, the event. */
const order: readonly LogPosition[] = [2, 3, 4, 0, 1]

/** Looks up a value and appends its places. Returns the rows read, or 'common' when it may stop at a common value and did. */
type LookUp = (digest: number, into: number[], onCommon: 'continue' | 'stop') => number | 'common'
type Found = { readonly places: readonly number[]; readonly rows: number }

class Search {
  readonly #groups: readonly (readonly number[])[]
  readonly #found: { number: number; transactions: number[] }[] = []
  /** common values, each with the number of the segment where that was last found */
  readonly #commonAt = new Map<number, number>()
  #segments = 0
  #rows = 0
  #transactions = 0

  constructor({ addresses, topics }: WantedLogs) {
    const wanted = [addresses, ...topics] as readonly (readonly string[])[]
    this.#groups = order.flatMap((position) => {
      const values = wanted[position] ?? []
      return values.length === 0 ? [] : [values.map((value) => digestAt(position, value))]
    })
  }

  get places(): LogPlaces {
    return this.#found
  }

  get isSpent(): boolean {
    return this.#rows >= bounds.rows || this.#transactions >= bounds.transactions
  }

  block(reader: KvReader, number: number): boolean {
    const block = openBlock(reader, number)
    if (block === undefined) return false
    const { places, rows } = this.#matching((digest, into) => addBlockPlaces(reader, block, digest, into))
    this.#rows += rows + 1
    if (places.length > 0) this.#add(number, places)
    return true
  }

  segment(segment: Segment, from: number, to: number): void {
    this.#segments++
    const within = placesOf(segment, from, to)
    const { places, rows } = this.#matching((digest, into, onCommon) => {
      const at = onCommon === 'stop' ? this.#commonAt.get(digest) : undefined
      if (at !== undefined && this.#segments - at < commonSegments) return 'common'
      const read = addSegmentPlaces(segment, digest, into, onCommon, within)
      if (read === 'common') this.#commonAt.set(digest, this.#segments)
      return read
    })
    this.#rows += rows + 1
    if (places.length > 0) lookAtEnds(segment, (ends) => this.#addByBlock(places, segment.first, ends, from, to))
  }

  /** @param places in a segment */
  #addByBlock(places: readonly number[], first: number, ends: BlockEnds, from: number, to: number): void {
    let group: { readonly number: number; readonly places: number[] } | undefined
    for (const place of places) {
      const at = ends.blockOf(place)
      const number = first + at
      if (number < from || number > to) continue
      if (group?.number !== number) {
        if (group) this.#add(group.number, group.places)
        group = { number, places: [] }
      }
      group.places.push(place - ends.at(at - 1))
    }
    if (group) this.#add(group.number, group.places)
  }

  #add(number: number, places: readonly number[]): void {
    this.#found.push({ number, transactions: [...places] })
    this.#transactions += places.length
  }

  /** Returns places that have a value of each group. */
  #matching(lookUp: LookUp): Found {
    let places: readonly number[] | undefined
    let rows = 0
    for (const digests of this.#groups) {
      if (places && places.length <= fewPlaces) break
      const found: number[] = []
      let isCommon = false
      for (const digest of digests) {
        const read = lookUp(digest, found, places ? 'stop' : 'continue')
        rows += read === 'common' ? 1 : read
        isCommon ||= read === 'common'
      }
      if (isCommon) continue
      const sorted = digests.length === 1 ? found : [...new Set(found)].sort((a, b) => a - b)
      places = places ? common(places, sorted) : sorted
    }
    return { places: places ?? [], rows }
  }
}

/** Returns the places of the blocks `from` to `to` in a segment. Reads the block ends only if the range does not cover the segment. */
function placesOf(segment: Segment, from: number, to: number): PlaceRange {
  const { first, last } = segment
  if (from <= first && to >= last) return allPlaces
  const within = lookAtEnds(segment, (ends) => ({
    from: ends.at(Math.max(from, first) - first - 1),
    to: ends.at(Math.min(to, last) - first),
  }))
  return within ?? allPlaces
}

/** Returns the intersection of two ascending lists. */
function common(a: readonly number[], b: readonly number[]): number[] {
  const both: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left = 0, right = 0] = [a[i], b[j]]
    if (left === right) both.push(left)
    if (left <= right) i++
    if (right <= left) j++
  }
  return both
}

/**
 * Searches the index for logs in the committed blocks `from` to `to`. Blocks that retention has removed from the index count as not indexed, also while some of
 * their rows are left.
 * @param wanted at least one of its lists is not empty
 */
export function searchLogIndex(reader: KvReader, wanted: WantedLogs, from: number, to: number): LogSearch {
  const mark = readIndexMark(reader)
  if (mark === undefined) return { kind: 'unindexed', next: to + 1 }
  const first = Math.max(mark.from, readLogsPruned(reader))
  if (from < first) return { kind: 'unindexed', next: Math.min(to + 1, first) }
  const search = new Search(wanted)
  let number = from
  for (const segment of segmentsFrom(reader, from, mark.open)) {
    search.segment(segment, number, to)
    number = segment.last + 1
    if (number > to || search.isSpent) break
  }
  while (number <= to && !search.isSpent && search.block(reader, number)) number++
  if (number === from) return { kind: 'unindexed', next: from + 1 }
  return { kind: 'found', places: search.places, next: Math.min(number, to + 1) }
}
