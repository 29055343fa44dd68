// npm run fuzz:evm -- [--seconds N] [--seed S] [--workers W] [--case I] [--table] [--into DIR]: runs random programs on all interpreters, and
// a share of them on @ethereumjs/evm, with the same time for both. Exit 1: two disagree; the case is minimised and stored in test/fixtures/evm-cases.
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { interpreters } from '../harness/evm/interpreters.ts'
import { coverageTable, impossiblePairs, missingPairs, sumOfCounts } from './evm/coverage.ts'
import type { FuzzCounts, FuzzShare } from './evm/loop.ts'
import type { FuzzReport } from './evm/worker.ts'

type Counts = Extract<FuzzReport, { kind: 'counts' }>

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const everyMs = 15_000

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    workers: { type: 'string', default: `${Math.min(2, availableParallelism())}` },
    case: { type: 'string' },
    into: { type: 'string', default: resolve(import.meta.dirname, '../fixtures/evm-cases') },
    table: { type: 'boolean' },
  },
})
const seconds = Number(values.seconds)
const seed = values.seed === undefined ? Math.trunc(performance.timeOrigin) % 2 ** 31 : Number(values.seed)
const only = values.case === undefined ? undefined : Number(values.case)
const workers = only === undefined ? Number(values.workers) : 1
const isGood =
  seconds > 0 && Number.isInteger(seed) && Number.isInteger(workers) && workers > 0 && (only === undefined || Number.isInteger(only))
if (!isGood) {
  process.stderr.write('fuzz:evm: --seconds takes a positive number, --seed, --workers and --case integers\n')
  process.exit(2)
}

const latest = new Map<number, Counts>()
const startMs = performance.now()
let printedMs = startMs

function sum(name: keyof FuzzCounts): number {
  return [...latest.values()].reduce((total, { counts }) => total + counts[name], 0)
}

function progress(): string {
  const ranSec = Math.round((performance.now() - startMs) / 1000)
  const programs = sum('cases') + sum('variants')
  return `${programs} programs (${sum('cases')} worlds, ${sum('variants')} with other gas), ${sum('oracle')} on the oracle too, ${Math.round(programs / ranSec)}/s, ${Math.max(0, Math.round(seconds - ranSec))} s left`
}

function take(worker: number, report: FuzzReport): void {
  if (report.kind === 'found')
    print(`DIFFERENT ${report.text}\n  repeat: npm run fuzz:evm -- --seed ${seed} --case ${/case (\d+)/.exec(report.text)?.[1]}`)
  else latest.set(worker, report)
  if (performance.now() - printedMs < everyMs) return
  printedMs = performance.now()
  print(progress())
}

function runWorker(worker: number): Promise<void> {
  const share: Omit<FuzzShare, 'endMs'> & { seconds: number } = { seed, worker, workers, seconds, only, into: resolve(values.into) }
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./evm/worker.ts', import.meta.url), { workerData: share })
    thread.on('message', (report: FuzzReport) => take(worker, report))
    thread.once('error', reject)
    thread.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`worker exited with ${code}`))))
  })
}

print(`fuzz:evm: ${interpreters.map(({ name }) => name).join(', ')} and @ethereumjs/evm, seed ${seed}, ${workers} workers`)
await Promise.all(Array.from({ length: workers }, (_, worker) => runWorker(worker)))

function printCoverage(): void {
  const coverage = sumOfCounts([...latest.values()].map((counts) => counts.coverage))
  const missing = missingPairs(coverage)
  if (values.table) for (const line of coverageTable(coverage)) print(line)
  for (const line of impossiblePairs()) print(`impossible: ${line}`)
  print(`other halts of frames: ${[...coverage.otherHalts].map(([name, count]) => `${name} ${count}`).join(', ')}`)
  for (const { oracleFailures } of latest.values())
    for (const [words, count] of oracleFailures) print(`oracle failed ${count} times: ${words}`)
  print(`opcode × outcome: ${missing.length === 0 ? 'all pairs seen' : `${missing.length} pairs not seen: ${missing.join(', ')}`}`)
  print(`${sum('long')} of ${sum('counted')} counted programs executed 200 opcodes or more`)
}

if (only === undefined) printCoverage()
print(`fuzz:evm: ${progress()}, seed ${seed}: ${sum('found')} differences`)
process.exitCode = sum('found') > 0 ? 1 : 0
