import { inOneLine } from './logLines.ts'

/** Alignment of a column. */
export type Align = 'left' | 'right'

const gap = '  '

/** Returns rows in aligned columns, a line each; the last column is not padded. Cells stay in their line, whatever foreign text they contain. */
export function columns(rows: readonly (readonly string[])[], aligns: readonly Align[] = []): string {
  const cells = rows.map((row) => row.map(inOneLine))
  const widths: number[] = []
  for (const row of cells) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const padded = (cell: string, at: number): string =>
    aligns[at] === 'right' ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)
  return cells.map((row) => `${row.map(padded).join(gap).trimEnd()}\n`).join('')
}

/** A line of a view: a name and its value; several values are lines below each other. */
export type Field = readonly [name: string, value: string | readonly string[]]

/** Returns names and values in two aligned columns. */
export function fieldLines(fields: readonly Field[]): string {
  return columns(
    fields.flatMap(([name, value]) => (typeof value === 'string' ? [value] : value).map((text, at) => [at === 0 ? name : '', text])),
  )
}

/** Formats a number with thousands separators, rounded to an integer. Intl does the same, but takes 10 ms to start. */
export const count = (value: number | bigint): string =>
  (typeof value === 'bigint' ? value : Math.round(value)).toString().replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

const timeUnits = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const

/** Formats a time in seconds with two significant digits: `0.3 s`, `12 s`, `4.5 min`, `2.1 h`, `34 d`. */
export function spanText(seconds: number): string {
  const size = Math.abs(seconds)
  for (const [unit, length] of timeUnits) if (size >= 2 * length) return `${twoDigits(seconds / length)} ${unit}`
  return `${twoDigits(seconds)} s`
}

const twoDigits = (value: number): string => (Math.abs(value) < 10 ? String(Math.round(value * 10) / 10) : count(value))

/** Formats bytes with a decimal unit, as `df -H` does. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1_000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

/** Formats the time of a call in seconds with two digits; null is a dash: `0.25 ms`, `41 ms`, `1.2 s`. */
export function latency(sec: number | null): string {
  if (sec === null) return '–'
  const ms = sec * 1_000
  if (ms < 1) return `${ms.toFixed(2)} ms`
  return ms < 1_000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${sec.toFixed(1)} s`
}
