import type { NodeSample } from '#monitor/sample'
import { type HistoryRow, historyColumns } from './state.ts'

/** Rows of the newest samples, of a fixed size in memory. Rows are numbered since the start. */
export class SampleHistory {
  readonly #values: Float64Array
  readonly #capacity: number
  #added = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#values = new Float64Array(capacity * historyColumns.length)
  }

  get bytes(): number {
    return this.#values.byteLength
  }

  add(row: HistoryRow): void {
    const at = (this.#added % this.#capacity) * historyColumns.length
    for (let column = 0; column < historyColumns.length; column++) this.#values[at + column] = row[column] ?? Number.NaN
    this.#added++
  }

  /** Returns the rows from a number on, oldest first, and the number of the first one: rows before it are forgotten, or were never added. */
  since(wanted: number): { readonly from: number; readonly rows: readonly HistoryRow[] } {
    const from = Math.min(this.#added, Math.max(wanted, this.#added - this.#capacity))
    return { from, rows: Array.from({ length: this.#added - from }, (_none, at) => this.#row(from + at)) }
  }

  #row(number: number): HistoryRow {
    const at = (number % this.#capacity) * historyColumns.length
    return Array.from(this.#values.subarray(at, at + historyColumns.length), (value) => (Number.isNaN(value) ? null : value))
  }
}

/** Rounds to four significant digits: a chart has fewer, and its text becomes a third as long. */
const rounded = (value: number | null | undefined): number | null =>
  value == null || !Number.isFinite(value) ? null : Number(value.toPrecision(4))

/** Returns the row of a sample. Pure. */
export function rowOf({ timeMs, status, rates, levels }: NodeSample): HistoryRow {
  const { heads, l1, memory, disk, peers } = status
  const calls = rates?.calls ?? []
  const slowest = calls.reduce((worst, { p99Sec }) => Math.max(worst, p99Sec ?? 0), 0)
  const l1Calls = Object.values(rates?.l1 ?? {})
  const sum = (values: readonly number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0))
  const byName: Record<(typeof historyColumns)[number], number | null> = {
    timeMs: Math.round(timeMs),
    blocksPerSec: rounded(rates?.blocksPerSec),
    gasPerSec: rounded(rates?.gasPerSec),
    transactionsPerSec: rounded(rates?.transactionsPerSec),
    callsPerSec: rounded(sum(calls.map(({ perSec }) => perSec))),
    slowestP99Sec: slowest === 0 ? null : rounded(slowest),
    unsafeAgeSec: rounded(heads.unsafe?.ageSec),
    safeAgeSec: rounded(heads.safe?.ageSec),
    l1BehindBlocks: rounded(l1?.behindBlocks),
    l1CallsPerSec: rounded(sum(l1Calls)),
    memoryBytes: rounded(memory?.usedBytes),
    diskFreeBytes: rounded(disk?.freeBytes),
    peers: rounded(peers),
    poolPending: rounded(levels?.poolPending),
  }
  return historyColumns.map((name) => byName[name])
}
