import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus, totalmem } from 'node:os'

/** One figure; a higher `value` is better. `against` is another program measured in the same run, interleaved. */
export type Row = {
  readonly name: string
  /** median of `runs` */
  readonly value: number
  readonly unit: string
  readonly runs: readonly number[]
  readonly against?: { readonly name: string; readonly value: number; readonly runs: readonly number[] }
  /** further figures */
  readonly facts?: Readonly<Record<string, string | number>>
}

export type Result = {
  readonly suite: string
  readonly commit: string
  readonly machine: string
  readonly date: string
  readonly rows: readonly Row[]
}

export function median(runs: readonly number[]): number {
  const sorted = [...runs].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

export function row(name: string, unit: string, runs: readonly number[]): Row {
  return { name, value: median(runs), unit, runs }
}

/** Returns the value that `part` of the values do not exceed, by the nearest rank. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}

/**
 * Returns the row of many samples: `runs` holds their minimum, nine deciles and maximum; `facts` their number, minimum, median, 99th percentile and
 * maximum.
 */
export function distribution(name: string, unit: string, samples: readonly number[]): Row {
  const at = (part: number): number => Number(quantile(samples, part).toFixed(3))
  const runs = Array.from({ length: 11 }, (_, tenth) => at(tenth / 10))
  return { name, value: at(0.5), unit, runs, facts: { samples: samples.length, min: at(0), median: at(0.5), p99: at(0.99), max: at(1) } }
}

/** Returns minimum, median, 99th percentile and maximum of a row's runs. */
function spreadOf({ runs }: Row): Readonly<Record<'min' | 'median' | 'p99' | 'max', number>> {
  const at = (part: number): number => quantile(runs, part)
  return { min: at(0), median: at(0.5), p99: at(0.99), max: at(1) }
}

export function describe(suite: string, rows: readonly Row[]): Result {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  return {
    suite,
    commit,
    machine,
    date: new Date().toISOString(),
    rows: rows.map((one) => ({ ...one, facts: { ...spreadOf(one), ...one.facts } })),
  }
}
