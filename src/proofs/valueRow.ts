import { compareBytes, concatBytes, u32At } from '#lib/bytes'
import type { RowChange } from '#state/history'
import { accountsTable, beforeBytes, decodeBefore, putBefore, storageTable } from '#state/rows'
import { proofsFault } from './faults.ts'

/*
 * The accounts and slots that a block changed, with their values before it, in one row that is searched in place.
 *   groups u32; for each group, ascending: keccak(address) of its slots, or zeros for the accounts ++ end of its rows u32; then for each row: last 32
 *   bytes of its key ++ end of its value u32; then the values: 0x00 (there was no row), or 0x01 ++ value
 */
const headBytes = 4
const keyBytes = 32
const entryBytes = keyBytes + 4
const accountsGroup = new Uint8Array(keyBytes)

type Group = { readonly key: Uint8Array; readonly changes: RowChange[] }

/** Groups the rows by table and account. @param changes ascending by table and key */
function grouped(changes: readonly RowChange[]): Group[] {
  const groups: Group[] = []
  for (const change of changes) {
    const key = change.table === storageTable ? change.key.subarray(0, keyBytes) : accountsGroup
    const last = groups.at(-1)
    if (last && compareBytes(last.key, key) === 0) last.changes.push(change)
    else groups.push({ key, changes: [change] })
  }
  return groups
}

/** Encodes the changes of a block. @param changes ascending by table and key */
export function encodeValues(changes: readonly RowChange[]): Uint8Array {
  const groups = grouped(changes)
  const head = headBytes + entryBytes * (groups.length + changes.length)
  const row = new Uint8Array(changes.reduce((sum, { before }) => sum + beforeBytes(before), head))
  const view = new DataView(row.buffer)
  view.setUint32(0, groups.length)
  let at = headBytes
  const put = (key: Uint8Array, end: number): void => {
    row.set(key, at)
    view.setUint32(at + keyBytes, end)
    at += entryBytes
  }
  let rows = 0
  for (const group of groups) {
    rows += group.changes.length
    put(group.key, rows)
  }
  let end = head
  for (const { key, before } of changes) {
    putBefore(row, end, before)
    end += beforeBytes(before)
    put(key.length === keyBytes ? key : key.subarray(-keyBytes), end)
  }
  return row
}

/** Returns the index of a key among entries in order; undefined when it is not there. */
function indexOf(row: Uint8Array, at: number, [from, to]: readonly [number, number], key: Uint8Array): number | undefined {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    const start = at + entryBytes * middle
    const order = compareBytes(row.subarray(start, start + keyBytes), key)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return undefined
}

/** The parts of a row: where its entries begin, and their ends. */
class Parts {
  readonly #row: Uint8Array
  readonly groups: number
  readonly rowsAt: number
  readonly count: number

  constructor(row: Uint8Array) {
    this.#row = row
    this.groups = u32At(row, 0)
    this.rowsAt = headBytes + entryBytes * this.groups
    this.count = this.groupEnd(this.groups - 1)
  }

  groupEnd(group: number): number {
    return group < 0 ? 0 : u32At(this.#row, headBytes + entryBytes * group + keyBytes)
  }

  valueOf(index: number): Uint8Array {
    const endOf = (entry: number): number =>
      entry < 0 ? this.rowsAt + entryBytes * this.count : u32At(this.#row, this.rowsAt + entryBytes * entry + keyBytes)
    return this.#row.subarray(endOf(index - 1), endOf(index))
  }
}

/** Checks that the ends in a row ascend to that of the row. @throws Fault PROOFS_ROW_DAMAGED */
function requireWhole(row: Uint8Array): void {
  const groups = row.length < headBytes ? -1 : u32At(row, 0)
  const rowsAt = headBytes + entryBytes * groups
  const lastOf = (from: number, entries: number, start: number): number => {
    let last = start
    for (let i = 0; i < entries; i++) {
      const end = u32At(row, from + entryBytes * i + keyBytes)
      if (end < last) throw proofsFault('PROOFS_ROW_DAMAGED', { reason: `an end at ${end} after ${last}` })
      last = end
    }
    return last
  }
  const fits = (bytes: number): boolean => bytes >= headBytes && bytes <= row.length
  const count = fits(rowsAt) ? lastOf(headBytes, groups, 0) : -1
  const valuesAt = rowsAt + entryBytes * count
  if (count < 0 || !fits(valuesAt) || lastOf(rowsAt, count, valuesAt) !== row.length)
    throw proofsFault('PROOFS_ROW_DAMAGED', { reason: `its ${row.length} bytes are not those of its entries` })
}

/** Returns a copy of the value before the block, as `putBefore` encodes it; undefined when the block did not change the row. */
export function valueIn(row: Uint8Array, table: number, key: Uint8Array): Uint8Array | undefined {
  const parts = new Parts(row)
  const groupKey = table === storageTable ? key.subarray(0, keyBytes) : accountsGroup
  const group = indexOf(row, headBytes, [0, parts.groups], groupKey)
  if (group === undefined) return undefined
  const index = indexOf(row, parts.rowsAt, [parts.groupEnd(group - 1), parts.groupEnd(group)], key.subarray(key.length - keyBytes))
  return index === undefined ? undefined : parts.valueOf(index).slice()
}

/** Iterates over the changes in a row, ascending by table and key. @throws Fault PROOFS_ROW_DAMAGED */
export function* valuesIn(row: Uint8Array): Generator<RowChange> {
  requireWhole(row)
  const parts = new Parts(row)
  for (let group = 0; group < parts.groups; group++) {
    const groupKey = row.subarray(headBytes + entryBytes * group, headBytes + entryBytes * group + keyBytes)
    const isAccounts = compareBytes(groupKey, accountsGroup) === 0
    for (let index = parts.groupEnd(group - 1); index < parts.groupEnd(group); index++) {
      const at = parts.rowsAt + entryBytes * index
      const last = row.subarray(at, at + keyBytes)
      const key = isAccounts ? last.slice() : concatBytes(groupKey, last)
      yield { table: isAccounts ? accountsTable : storageTable, key, before: decodeBefore(parts.valueOf(index).slice()) }
    }
  }
}
