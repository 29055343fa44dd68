import type { Hash } from './ids.ts'
import type { StateDiff } from './stateDiff.ts'
import {
  accountBytes,
  beginDiff,
  compareAt,
  endDiff,
  isWipedFlag,
  type Layout,
  readLayout,
  slotBefore,
  slotBytes,
} from './stateDiffLayout.ts'
import { StateDiffTable, writeCodes } from './stateDiffTable.ts'

/** One of the merged diffs. */
type Part = { readonly diff: StateDiff; readonly bytes: Uint8Array; readonly layout: Layout }
/** A row of a part, with the index of the part and the row's offset in its bytes. */
type Row = { readonly part: number; readonly bytes: Uint8Array; readonly at: number }

/** Returns the youngest row of each key, ascending by key. */
function youngestRows(parts: readonly Part[], section: 'accounts' | 'slots', keyBytes: number): Row[] {
  const at = parts.map(({ layout }) => layout[section].rowsAt)
  const end = parts.map(({ layout }, part) => (at[part] as number) + layout[section].rows * layout[section].rowBytes)
  const compare = (part: number, { bytes, at: rowAt }: Row): number =>
    compareAt((parts[part] as Part).bytes, at[part] as number, bytes, rowAt, keyBytes)
  const isLeft = (part: number): boolean => (at[part] as number) < (end[part] as number)
  const rows: Row[] = []
  for (;;) {
    let least: Row | undefined
    for (const [part, { bytes }] of parts.entries()) {
      if (isLeft(part) && (least === undefined || compare(part, least) <= 0)) least = { part, bytes, at: at[part] as number }
    }
    if (least === undefined) return rows
    rows.push(least)
    for (const [part, { layout }] of parts.entries()) {
      if (isLeft(part) && compare(part, least) === 0) at[part] = (at[part] as number) + layout[section].rowBytes
    }
  }
}

/** Merges the diffs of consecutive steps into the diff of all steps. Rows are copied without decoding. @param diffs oldest first */
export function mergeStateDiffs(diffs: readonly StateDiff[]): StateDiff {
  const parts = diffs.map((diff): Part => ({ diff, bytes: new Uint8Array(diff.bytes), layout: readLayout(new DataView(diff.bytes)) }))
  const isWipedAfter = ({ part, bytes, at }: Row): boolean =>
    parts.some(({ diff }, i) => i > part && diff.hasWipes && diff.isWiped(bytes.subarray(at, at + 32)))
  const accounts = youngestRows(parts, 'accounts', 32)
  const slots = youngestRows(parts, 'slots', 64).filter((row) => !isWipedAfter(row))
  const byHash = new Map<Hash, Uint8Array>()
  for (const diff of diffs) for (const { hash, code } of diff.codes()) byHash.set(hash, code)
  const codes = Array.from(byHash, ([hash, code]) => ({ hash, code })).sort((a, b) => (a.hash < b.hash ? -1 : 1))
  const codeLength = codes.reduce((sum, { code }) => sum + code.length, 0)
  const made = beginDiff([accounts.length, slots.length, codes.length], codeLength)
  for (const [i, { bytes, at }] of accounts.entries()) {
    const to = made.layout.accounts.rowsAt + i * accountBytes
    const row = bytes.subarray(at, at + accountBytes)
    made.bytes.set(row, to)
    if (diffs.some((diff) => diff.hasWipes && diff.isWiped(row.subarray(0, 32)))) made.view.setUint8(to + 32, (row[32] ?? 0) | isWipedFlag)
  }
  for (const [i, { bytes, at }] of slots.entries()) {
    // no root is computed from a merged diff: it needs no values before
    made.bytes.set(bytes.subarray(at, at + slotBefore), made.layout.slots.rowsAt + i * slotBytes)
  }
  writeCodes(made, codes)
  return new StateDiffTable(endDiff(made))
}
