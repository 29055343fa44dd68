import { compareBytes, concatBytes, emptyBytes, u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import type { BlockId } from '#types/blockRef'
import { hashFromBytes } from '#types/ids'
import type { OrderedTable, SafeHeadEntry, SafeHeadStore } from './ports.ts'

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

const highest = new Uint8Array(8).fill(0xff)

/** Returns the key: L1 number ‖ L2 number (u64 big-endian each). Rows ascend in the order in which blocks became safe. */
const keyOf = ({ l1, safe }: SafeHeadEntry): Uint8Array => concatBytes(u64Bytes(l1.number), u64Bytes(safe.number))

/** Returns the value: L1 hash ‖ L2 hash. */
const hashesOf = ({ l1, safe }: SafeHeadEntry): Uint8Array => concatBytes(fromHex(l1.hash), fromHex(safe.hash))

/** Returns the greatest key below the record's; undefined when there is none. */
function keyBelow({ l1, safe }: SafeHeadEntry): Uint8Array | undefined {
  if (safe.number > 0) return concatBytes(u64Bytes(l1.number), u64Bytes(safe.number - 1))
  return l1.number > 0 ? concatBytes(u64Bytes(l1.number - 1), highest) : undefined
}

function decodeRow(row: Row | undefined): SafeHeadEntry | undefined {
  if (row === undefined) return undefined
  const id = (at: number): BlockId => ({
    number: u64FromBytes(row.key.subarray(at * 8, at * 8 + 8)),
    hash: hashFromBytes(row.value.subarray(at * 32, at * 32 + 32)),
  })
  return { l1: id(0), safe: id(1) }
}

/** Creates the safe head store over an ordered table: keys of 16 bytes, values of 64. */
export function createSafeHeadStore(table: OrderedTable): SafeHeadStore {
  const last = (): SafeHeadEntry | undefined => decodeRow(table.floor(concatBytes(highest, highest)))
  return {
    atOrBelow: (l1Number) => (l1Number < 0 ? undefined : decodeRow(table.floor(concatBytes(u64Bytes(l1Number), highest)))),
    last,
    before(entry): SafeHeadEntry | undefined {
      const key = keyBelow(entry)
      return key && decodeRow(table.floor(key))
    },
    append(entries): void {
      const top = last()
      let below = top ? keyOf(top) : emptyBytes
      const puts = entries.map((entry) => ({ key: keyOf(entry), value: hashesOf(entry) }))
      for (const { key } of puts) {
        if (compareBytes(below, key) >= 0) throw new RangeError('safe head records must ascend')
        below = key
      }
      table.write({ puts })
    },
    dropAfter(entry): void {
      table.write({ deleteAfter: entry ? keyOf(entry) : emptyBytes, puts: [] })
    },
  }
}
