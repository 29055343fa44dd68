// An interpreter in a fresh process: speed of its first run compared with later ones, and its idle memory.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Row, row } from '../format.ts'
import type { MemoryReport, SpeedReport } from './startChild.ts'
import { workloads } from './workloads.ts'
import type { EvmOptions } from './world.ts'

const contracts: readonly string[] = ['Arithmetic256', 'CalledTransfers', 'RayTracer']
const defaultRounds = 5
/** targets: speed of the first run divided by that of later ones, and MB of an idle instance */
const leastShare = 0.7
const mostMb = 24

async function inChild<T>(args: readonly string[]): Promise<T> {
  const child = fork(new URL('startChild.ts', import.meta.url), args, { execArgv: ['--expose-gc'] })
  const ended = once(child, 'exit')
  const [answer] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the child ends with ${code}`))),
  ])
  await ended
  return answer as T
}

/** Returns the speed of the first run divided by the median of the later half of the runs. */
function firstShare({ runsMs }: SpeedReport): number {
  const [first = 0] = runsMs
  const later = runsMs.slice(runsMs.length >> 1).sort((a, b) => a - b)
  return (later[later.length >> 1] ?? 0) / first
}

/** Several processes for each of three workloads, and for memory. */
export async function run({ evm = 'wasm', rounds = defaultRounds, judge = false }: EvmOptions): Promise<readonly Row[]> {
  const rows: Row[] = []
  const missed: string[] = []
  for (const contract of contracts) {
    const reports: SpeedReport[] = []
    for (let round = 0; round < rounds; round++) reports.push(await inChild<SpeedReport>(['speed', evm, contract]))
    const { name = contract } = workloads.find((each) => each.contract === contract) ?? {}
    const share = row(`${name}: speed of the first run in a process by that of later ones`, '×', reports.map(firstShare))
    const loads = row(
      `${name}: from nothing to an interpreter`,
      'ms',
      reports.map(({ loadMs }) => loadMs),
    )
    const firsts = row(
      `${name}: the first run`,
      'ms',
      reports.map(({ runsMs }) => runsMs[0] ?? 0),
    )
    if (share.value < leastShare) missed.push(`${name}: the first run is below ${leastShare}`)
    rows.push(share, loads, firsts)
  }
  const reports: MemoryReport[] = []
  for (let round = 0; round < rounds; round++) reports.push(await inChild<MemoryReport>(['memory', evm]))
  const first = row(
    'resident memory of the first instance, idle after a run, its code and compiled code too',
    'MB',
    reports.map(({ firstMb }) => firstMb),
  )
  const next = row(
    'resident memory of a further instance',
    'MB',
    reports.map(({ nextMb }) => nextMb),
  )
  if (first.value > mostMb) missed.push(`an idle instance takes more than ${mostMb} MB`)
  if (judge) for (const line of missed) console.error(line)
  if (judge && missed.length > 0) process.exitCode = 1
  return [...rows, first, next]
}
