// Runs the files of its messages, one after another, on the interpreters that `workerData` names.
import { parentPort, workerData } from 'node:worker_threads'
import { interpreters } from '#test/harness/evm/interpreters'
import { stateTestsIn } from '#test/vectors/publicStateTests'
import { runStateTest, type StateTestFailure } from '#test/vectors/runStateTest'
import { caseId } from '#test/vectors/stateTestCases'
import type { SpecJob, SpecOptions, SpecReport } from './messages.ts'

const { evms: names, only } = workerData as SpecOptions
const evms = interpreters.filter(({ name }) => names.includes(name)).map(({ name, create }) => ({ name, evm: create() }))
const wants = (id: string): boolean => only === undefined || id.startsWith(only)

parentPort?.on('message', (job: SpecJob) => {
  const startMs = performance.now()
  const counts: Record<string, number> = {}
  const failures: StateTestFailure[] = []
  for (const whole of stateTestsIn(job)) {
    const test = { ...whole, cases: whole.cases.filter((each) => wants(caseId(whole, each))) }
    if (test.cases.length === 0) continue
    for (const { fork } of test.cases) counts[fork] = (counts[fork] ?? 0) + 1
    failures.push(...runStateTest(evms, test))
  }
  parentPort?.postMessage({ file: job.file, counts, failures, ms: performance.now() - startMs } satisfies SpecReport)
})
