// The public state tests under every fork, and the precompile vectors: `npm run test:spec [-- --only ID-PREFIX] [--slow]`. Data: see
// test/harness/sharedData.ts.
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { EvmFork } from '#chain/evmRules'
import { type PrecompileVector, wrongVectors } from '#test/harness/precompileVectors'
import { readSharedTar } from '#test/harness/tar'
import type { StateTestFailure } from '#test/vectors/runStateTest'

export type SpecShare = { readonly forks: readonly EvmFork[]; readonly only: string | undefined }
export type SpecReport = {
  readonly counts: Readonly<Record<string, number>>
  readonly failures: readonly StateTestFailure[]
  readonly slow: readonly { readonly name: string; readonly ms: number }[]
}

const required: Readonly<Record<string, number>> = { paris: 62, shanghai: 171, cancun: 20_969, prague: 20_969 }
/** Forks of each worker: about the same work. */
const shares: readonly (readonly EvmFork[])[] = [['paris', 'shanghai', 'cancun'], ['prague']]
const shownFailures = 40
/** Osaka's price of MODEXP (EIP-7883) is not among the rules yet. */
const vectorsOfLaterRules: readonly string[] = ['modexp_eip7883']

function runShare(share: SpecShare): Promise<SpecReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./specWorker.ts', import.meta.url), { workerData: share })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} before its report`)))
  })
}

function printFailures(failures: readonly StateTestFailure[]): void {
  for (const { id, reason } of failures.slice(0, shownFailures)) {
    console.log(`FAILED ${id}\n  ${reason}\n  again: npm run test:spec -- --only '${id}'`)
  }
  if (failures.length > shownFailures) console.log(`… and ${failures.length - shownFailures} more`)
}

/** Prints what came out wrong; returns whether nothing did. */
function checkPrecompiles(): boolean {
  let count = 0
  const wrong: string[] = []
  for (const [path, content] of readSharedTar('spec/precompile-vectors.tar.zst')) {
    const file = path.replace('.json', '')
    if (vectorsOfLaterRules.includes(file)) continue
    const vectors = JSON.parse(content.toString('utf8')) as PrecompileVector[]
    count += vectors.length
    wrong.push(...wrongVectors(file, vectors).map((line) => `${file} ${line}`))
  }
  for (const line of wrong) console.log(`FAILED precompile ${line}`)
  console.log(`precompiles: ${count} vectors, ${wrong.length} wrong (again: npm run test:data -- precompiles)`)
  return wrong.length === 0
}

/** Prints the result of each fork; returns whether every case was there and passed. */
function checkCounts(reports: readonly SpecReport[], failures: readonly StateTestFailure[], least: (fork: string) => number): boolean {
  let isWhole = reports.some(({ counts }) => Object.keys(counts).length > 0)
  if (!isWhole) console.log('no case has this name')
  for (const fork of Object.keys(required)) {
    const ran = reports.reduce((sum, { counts }) => sum + (counts[fork] ?? 0), 0)
    const failed = failures.filter(({ id }) => id.includes(`[${fork}/`)).length
    const isShort = ran < least(fork)
    console.log(`${fork}: ${ran - failed} of ${ran} cases pass${isShort ? `; ${least(fork)} are required` : ''}`)
    isWhole &&= failed === 0 && !isShort
  }
  return isWhole
}

const { values } = parseArgs({ options: { only: { type: 'string' }, slow: { type: 'boolean' } } })
const { only } = values
const reports = await Promise.all(shares.map((forks) => runShare({ forks, only })))
const failures = reports.flatMap((report) => report.failures)
printFailures(failures)
if (values.slow) for (const { name, ms } of reports.flatMap((report) => report.slow)) console.log(`${ms} ms ${name}`)
const isWhole = checkCounts(reports, failures, (fork) => (only === undefined ? (required[fork] ?? 0) : 0))
const areVectorsRight = only !== undefined || checkPrecompiles()
process.exitCode = isWhole && areVectorsRight ? 0 : 1
