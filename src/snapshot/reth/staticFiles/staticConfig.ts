import { u32Le, u64Le } from '../littleEndian.ts'

/** First and last number of a range. */
export type NumberRange = { readonly first: number; readonly last: number }

/** Content of a `.conf` file, for the segments whose rows are read. */
export type StaticConfig = {
  /** Blocks in the file; undefined: none. */
  readonly blocks: NumberRange | undefined
  readonly segment: 'headers' | 'other'
  readonly columns: number
  readonly rows: number
  /** Whether each column of each row is an LZ4 block. */
  readonly isCompressed: boolean
  /** Bytes of the largest row, uncompressed. */
  readonly maxRowBytes: number
}

const formatVersion = 1
const lz4 = 1
const maxColumns = 3
/** Segments with one more number in their configuration: change sets of accounts and of slots. Their rows are not read. */
const changeSets = [4, 5]

/**
 * Decodes a configuration: version, block range of the file, optional ranges of blocks and transactions in it, segment, columns, rows, compression, largest
 * row. Integers are little-endian, of 8 bytes except the segment and the compressor (4) and the marks of optional fields (1).
 * @returns undefined for other bytes, `unknown` for another version or compression
 */
export function parseStaticConfig(bytes: Uint8Array): StaticConfig | 'unknown' | undefined {
  let at = 0
  const u64 = (): number => {
    at += 8
    return u64Le(bytes, at - 8)
  }
  const u32 = (): number => {
    at += 4
    return u32Le(bytes, at - 4)
  }
  let hasMarks = true
  const optional = <T>(read: () => T): T | undefined => {
    const mark = bytes[at++]
    hasMarks &&= mark === 0 || mark === 1
    return mark === 1 ? read() : undefined
  }
  const range = (): NumberRange => ({ first: u64(), last: u64() })
  if (u64() !== formatVersion) return bytes.length < 8 ? undefined : 'unknown'
  const expected = range()
  const blocks = optional(range)
  optional(range)
  const segment = u32()
  if (changeSets.includes(segment)) return 'unknown'
  const [columns, rows] = [u64(), u64()]
  const compressor = optional(u32)
  const maxRowBytes = u64()
  if (!hasMarks || at !== bytes.length || columns === 0 || columns > maxColumns || !Number.isSafeInteger(rows)) return undefined
  const isInside = !blocks || (blocks.first >= expected.first && blocks.last <= expected.last && blocks.first <= blocks.last)
  if (!isInside) return undefined
  if (compressor !== undefined && compressor !== lz4) return 'unknown'
  return { blocks, segment: segment === 0 ? 'headers' : 'other', columns, rows, isCompressed: compressor === lz4, maxRowBytes }
}
