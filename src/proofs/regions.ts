import { u64Bytes, u64FromBytes } from '#lib/bytes'
import type { KvReader, KvWriter } from '#store/ports'
import { proofsTables } from '#store/tables'

/**
 * Consecutive blocks, `first` to `last`, whose rows are recorded; none while `last` is `first - 1`. The states after blocks `first - 1` to `last` can be
 * read. `base` is present in a region that was recorded from its last block down: the position of that block in the indices of such regions. `lowest` is
 * present once blocks below `first` were removed from such a region: the lowest block that it had, whose position tells which runs were merged.
 */
export type Region = { readonly first: number; readonly last: number; readonly base?: number; readonly lowest?: number }

const key = new TextEncoder().encode('proofs.regions')
const regionBytes = 32
/** Encodes an absent number. */
const none = Number.MAX_SAFE_INTEGER
/** Regions in descending order begin at multiples of this in their indices, which is the number of positions in the largest run. */
const baseUnit = 2 ** 16

/** Returns the regions in ascending order, which do not overlap. */
export function readRegions(reader: KvReader): readonly Region[] {
  const row = reader.get(proofsTables.meta.id, key) ?? new Uint8Array()
  const at = (offset: number): number => u64FromBytes(row.subarray(offset, offset + 8))
  return Array.from({ length: Math.floor(row.length / regionBytes) }, (_, i) => {
    const [first = 0, last = 0, base, lowest] = [0, 8, 16, 24].map((offset) => at(regionBytes * i + offset))
    return { first, last, ...(base !== none && { base }), ...(lowest !== none && { lowest }) }
  })
}

export function writeRegions(tx: KvWriter, regions: readonly Region[]): void {
  const row = Buffer.concat(regions.flatMap(({ first, last, base = none, lowest = none }) => [first, last, base, lowest].map(u64Bytes)))
  tx.put(proofsTables.meta.id, key, row)
}

/** Returns the regions at the end without a gap between them, ascending: the states that can be read are those of their blocks. */
export function joined(regions: readonly Region[]): readonly Region[] {
  const from = regions.findLastIndex(({ first }, i) => i === 0 || (regions[i - 1] as Region).last + 1 !== first)
  return regions.slice(Math.max(0, from))
}

/** Position of a block in the indices of descending regions. */
export const positionIn = ({ last, base = 0 }: Region, number: number): number => base + last - number

/** Last position that a descending region was written to. */
export const endPosition = (region: Region): number => positionIn(region, region.lowest ?? region.first)

/** Block at such a position. */
export const numberAt = ({ last, base = 0 }: Region, position: number): number => last + base - position

/** Returns the base of a new descending region: above the positions of all others. */
export function nextBase(regions: readonly Region[]): number {
  const ends = regions.flatMap((region) => (region.base === undefined ? [] : [endPosition(region) + 1]))
  return Math.ceil(Math.max(0, ...ends) / baseUnit) * baseUnit
}
