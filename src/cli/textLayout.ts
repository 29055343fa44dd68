import { inOneLine } from './logLines.ts'

/** Alignment of a column. */
export type Align = 'left' | 'right'

const gap = '  '

/** Returns rows in aligned columns, a line each; the last column is not padded. Cells stay in their line, whatever foreign text they contain. */
export function columns(rows: readonly (readonly string[])[], aligns: readonly Align[] = []): string {
  const cells = rows.map((row) => row.map(inOneLine))
  const widths: number[] = []
  for (const row of cells) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  const padded = (cell: string, at: number): string => (aligns[at] === 'right' ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))
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

const thousands = new RegExp(/\B(?=(\d{3})+$)/g)

/** Formats an integer with thousands separators, exactly. */
export const counted = (value: number | bigint): string => value.toString().replaceAll(thousands, ',')

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

const twoDigits = (value: number): string => (Math.abs(value) < 10 ? String(Math.round(value * 10) / 10) : counted(Math.round(value)))

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Formats a size in decimal units: `2.4 GB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length - 1)
  return `${twoDigits(bytes / 1_000 ** power)} ${byteUnits[power]}`
}
