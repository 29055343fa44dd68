// Runs the public state tests under every fork on every interpreter, and the precompile vectors:
// `npm run test:spec [-- --evm reference|wasm] [--only ID-PREFIX] [--slow]`. Data: see test/harness/sharedData.ts.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { interpreters } from '#test/harness/evm/interpreters'
import { type PrecompileVector, wrongVectors } from '#test/harness/evm/precompileVectors'
import { readSharedTar } from '#test/harness/tar'
import { publicStateTestFiles, type StateTestFile, slownessOf } from '#test/vectors/publicStateTests'
import type { StateTestFailure } from '#test/vectors/runStateTest'
import type { SpecReport } from './spec/messages.ts'
import { runJobs } from './spec/pool.ts'
import { Progress } from './spec/progress.ts'

const required: Readonly<Record<string, number>> = { paris: 62, shanghai: 171, cancun: 20_969, prague: 20_969, osaka: 20_969 }
const shownFailures = 40

/** Number of cases of a file: three post states each, of Cancun, Prague and Osaka; the few of older forks are ignored. */
const casesIn = ({ later }: StateTestFile): number =>
  Object.values(later).reduce((sum, posts) => sum + Object.values(posts).reduce((count, { length }) => count + length, 0) * 1.5, 0)

let failureCount = 0

/** Prints failures as they occur: a run takes minutes. */
function printFailures(failures: readonly StateTestFailure[]): void {
  for (const { evm, id, reason } of failures) {
    failureCount++
    if (failureCount > shownFailures) continue
    console.log(`FAILED on ${evm}: ${id}\n  ${reason}\n  to repeat: npm run test:spec -- --evm ${evm} --only '${id}'`)
  }
}

/** Prints the precompile vectors that failed; returns whether all passed. */
function checkPrecompiles(): boolean {
  let count = 0
  const wrong: string[] = []
  for (const [path, content] of readSharedTar('spec/precompile-vectors.tar.zst')) {
    const file = path.replace('.json', '')
    const vectors = JSON.parse(content.toString('utf8')) as PrecompileVector[]
    count += vectors.length
    wrong.push(...wrongVectors(file, vectors).map((line) => `${file} ${line}`))
  }
  for (const line of wrong) console.log(`FAILED precompile ${line}`)
  console.log(`precompiles: ${count} vectors, ${wrong.length} wrong (to repeat: npm run test:data -- precompiles)`)
  return wrong.length === 0
}

/** Prints the result of each fork on one interpreter; returns whether enough cases ran and all passed. */
function checkCounts(evm: string, reports: readonly SpecReport[], least: (fork: string) => number): boolean {
  let isWhole = true
  const failures = reports.flatMap((report) => report.failures).filter((failure) => failure.evm === evm)
  for (const fork of Object.keys(required)) {
    const ran = reports.reduce((sum, { counts }) => sum + (counts[fork] ?? 0), 0)
    const failed = failures.filter(({ id }) => id.includes(`[${fork}/`)).length
    const isShort = ran < least(fork)
    console.log(`${evm} ${fork}: ${ran - failed} of ${ran} cases pass${isShort ? `; ${least(fork)} are required` : ''}`)
    isWhole &&= failed === 0 && !isShort
  }
  return isWhole
}

function refuse(problem: string): never {
  console.error(`test:spec: ${problem}`)
  process.exit(2)
}

const { values } = parseArgs({ options: { only: { type: 'string' }, evm: { type: 'string' }, slow: { type: 'boolean' } } })
const { only } = values
const all = interpreters.map(({ name }) => name)
if (values.evm !== undefined && !all.includes(values.evm)) refuse(`--evm ${values.evm}: there are ${all.join(', ')}`)
const evms = all.filter((name) => values.evm === undefined || name === values.evm)

const files = publicStateTestFiles((file) => only === undefined || only.startsWith(file) || file.startsWith(only))
// The slowest files run first, so that no worker has one left at the end.
const workIn = (file: StateTestFile): number => casesIn(file) + slownessOf(file.file)
const jobs = [...files].sort((a, b) => workIn(b) - workIn(a))
const reports: SpecReport[] = []
const sumOf = (of: (file: StateTestFile) => number): number => jobs.reduce((sum, file) => sum + of(file), 0)
const workByFile = new Map(jobs.map((job) => [job.file, workIn(job)]))
using progress = new Progress(sumOf(casesIn), sumOf(workIn), (line) => console.log(`${evms.join(' and ')}: ${line}`))
await runJobs(jobs, { evms, only }, Math.max(2, availableParallelism()), (report) => {
  reports.push(report)
  printFailures(report.failures)
  progress.done(
    Object.values(report.counts).reduce((sum, count) => sum + count, 0),
    workByFile.get(report.file) ?? 0,
  )
})
if (failureCount > shownFailures) console.log(`… and ${failureCount - shownFailures} more failures`)
if (values.slow)
  for (const { file, ms } of reports.toSorted((a, b) => b.ms - a.ms).slice(0, 20)) console.log(`${Math.round(ms)} ms ${file}`)
const ran = reports.some(({ counts }) => Object.keys(counts).length > 0)
if (!ran) console.log('no case has this name')
const least = (fork: string): number => (only === undefined ? (required[fork] ?? 0) : 0)
const areWhole = evms.map((evm) => checkCounts(evm, reports, least))
const areVectorsRight = only !== undefined || checkPrecompiles()
console.log(`${progress.total()}, each on ${evms.length} interpreters`)
process.exitCode = ran && areWhole.every(Boolean) && areVectorsRight ? 0 : 1
