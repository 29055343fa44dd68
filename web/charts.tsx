import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import UPlot from 'uplot'
import { count, latency, size, spanText } from '../src/cli/textLayout.ts'
import { type HistoryColumn, type HistoryRow, historyColumns } from '../src/page/state.ts'
import type { Shown } from './pageState.ts'

type Line = { readonly column: HistoryColumn; readonly name: string }
type Chart = { readonly title: string; readonly lines: readonly Line[]; readonly format: (value: number) => string }

function oneDigit(value: number): string {
  if (value > 0 && value < 0.95) return String(Number(value.toPrecision(2)))
  return value < 99.95 ? value.toFixed(1) : count(value)
}

const charts: readonly Chart[] = [
  { title: 'Blocks per second', lines: [{ column: 'blocksPerSec', name: 'blocks/s' }], format: oneDigit },
  { title: 'Gas', lines: [{ column: 'gasPerSec', name: 'Mgas/s' }], format: (value) => `${oneDigit(value / 1e6)} M` },
  { title: 'Transactions per second', lines: [{ column: 'transactionsPerSec', name: 'tx/s' }], format: oneDigit },
  {
    title: 'Age of the heads',
    lines: [
      { column: 'unsafeAgeSec', name: 'unsafe' },
      { column: 'safeAgeSec', name: 'safe' },
    ],
    format: spanText,
  },
  { title: 'JSON-RPC calls per second', lines: [{ column: 'callsPerSec', name: 'calls/s' }], format: oneDigit },
  { title: 'p99 of the slowest class', lines: [{ column: 'slowestP99Sec', name: 'p99' }], format: latency },
  { title: 'L1 blocks to derive', lines: [{ column: 'l1BehindBlocks', name: 'blocks' }], format: count },
  { title: 'Memory', lines: [{ column: 'memoryBytes', name: 'used' }], format: size },
]

const ranges = [
  ['live', '10 min', 600],
  ['hour', '1 h', 3_600],
  ['hours', '6 h', 21_600],
] as const
type Range = (typeof ranges)[number][0]

/** Rows with which the node's own history is shown first: five minutes. */
const enoughRows = 30

const columnAt = (column: HistoryColumn): number => historyColumns.indexOf(column)

function dataOf({ lines }: Chart, rows: readonly HistoryRow[]): UPlot.AlignedData {
  const values = (column: HistoryColumn): (number | null)[] => rows.map((row) => row[columnAt(column)] ?? null)
  return [rows.map((row) => (row[0] ?? 0) / 1_000), ...lines.map(({ column }) => values(column))]
}

/** Local time of day; seconds are shown where they are not zero. */
function timeOf(sec: number): string {
  const text = new Date(sec * 1_000).toTimeString().slice(0, 8)
  return text.endsWith(':00') ? text.slice(0, 5) : text
}

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

function optionsOf({ lines, format }: Chart, width: number): UPlot.Options {
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  return {
    width,
    height: 130,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 4, 0, 0],
    scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, size: 28, space: 70, values: (_plot, splits) => splits.map(timeOf) },
      { ...axis, size: 64, space: 30, values: (_plot, splits) => splits.map(format) },
    ],
    series: [{}, ...lines.map((_line, at) => ({ stroke: colour(`--line-${at + 1}`), width: 1.5, points: { show: false } }))],
  }
}

/** Returns a number that changes with the colours of the page. */
function useScheme(): number {
  const [changes, setChanges] = useState(0)
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const onChange = (): void => setChanges((before) => before + 1)
    dark.addEventListener('change', onChange)
    return () => dark.removeEventListener('change', onChange)
  }, [])
  return changes
}

function Plot({
  chart,
  rows,
  scheme,
}: {
  readonly chart: Chart
  readonly rows: readonly HistoryRow[]
  readonly scheme: number
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new UPlot(optionsOf(chart, element.clientWidth), dataOf(chart, rows), element)
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 130 }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [chart, scheme])
  useEffect(() => plot.current?.setData(dataOf(chart, rows)), [chart, rows])
  const last = rows.at(-1)
  return (
    <figure class="card">
      <figcaption>
        <h3>{chart.title}</h3>
        {chart.lines.map(({ column, name }, at) => {
          const value = last?.[columnAt(column)]
          return (
            <span key={column} class={`value line-${at + 1}`}>
              {chart.lines.length > 1 && `${name} `}
              {value == null ? '–' : chart.format(value)}
            </span>
          )
        })}
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  )
}

export function Charts({ shown: { history, live } }: { readonly shown: Shown }): JSX.Element {
  const [chosen, setChosen] = useState<Range>()
  const scheme = useScheme()
  const range = chosen ?? (history.length >= enoughRows ? 'hour' : 'live')
  const seconds = ranges.find(([name]) => name === range)?.[2] ?? 600
  const from = (live.at(-1)?.[0] ?? 0) - seconds * 1_000
  const rows = range === 'live' ? live : history.filter((row) => (row[0] ?? 0) >= from)
  return (
    <section>
      <div class="title">
        <h2>Charts</h2>
        <fieldset>
          <legend class="unseen">Time of the charts</legend>
          {ranges.map(([name, text]) => (
            <button key={name} type="button" aria-pressed={name === range} onClick={() => setChosen(name)}>
              {text}
            </button>
          ))}
        </fieldset>
      </div>
      <div class="charts">
        {charts.map((chart) => (
          <Plot key={chart.title} chart={chart} rows={rows} scheme={scheme} />
        ))}
      </div>
    </section>
  )
}
