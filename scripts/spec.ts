// The public state tests under every fork: `npm run test:spec [-- --only ID-PREFIX]`. Data: see test/harness/sharedData.ts.
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { EvmFork } from '#chain/evmRules'
import type { StateTestFailure } from '#test/vectors/runStateTest'

export type SpecShare = { readonly forks: readonly EvmFork[]; readonly only: string | undefined }
export type SpecReport = {
  readonly counts: Readonly<Record<string, number>>
  readonly failures: readonly StateTestFailure[]
  readonly slow: readonly { readonly name: string; readonly ms: number }[]
}

const required = { paris: 62, shanghai: 171, cancun: 20_969, prague: 20_969 }
/** Forks of each worker: about the same work. */
const shares: readonly (readonly EvmFork[])[] = [['paris', 'shanghai', 'cancun'], ['prague']]
const shownFailures = 40

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

const { values } = parseArgs({ options: { only: { type: 'string' }, slow: { type: 'boolean' } } })
const reports = await Promise.all(shares.map((forks) => runShare({ forks, only: values.only })))
const failures = reports.flatMap((report) => report.failures)
printFailures(failures)
if (values.slow) for (const { name, ms } of reports.flatMap((report) => report.slow)) console.log(`${ms} ms ${name}`)
let isShort = false
for (const [fork, least] of Object.entries(required)) {
  const ran = reports.reduce((sum, { counts }) => sum + (counts[fork] ?? 0), 0)
  const failed = failures.filter(({ id }) => id.includes(`[${fork}/`)).length
  console.log(`${fork}: ${ran - failed} of ${ran} cases pass`)
  isShort ||= ran < least && values.only === undefined
}
if (isShort) console.log(`too few cases: ${JSON.stringify(required)} are required`)
process.exitCode = failures.length > 0 || isShort ? 1 : 0
