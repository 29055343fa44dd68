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

export function describe(suite: string, rows: readonly Row[]): Result {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const machine = `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  return { suite, commit, machine, date: new Date().toISOString(), rows }
}
