// The cases of some forks: `workerData` says which.
import { parentPort, workerData } from 'node:worker_threads'
import { createReferenceEvm } from '#evm/referenceEvm'
import { publicStateTests } from '#test/vectors/publicStateTests'
import { runStateTest } from '#test/vectors/runStateTest'
import { caseId } from '#test/vectors/stateTestCases'
import type { SpecReport, SpecShare } from './spec.ts'

const { forks, only } = workerData as SpecShare
const wants = (id: string): boolean => only === undefined || id.startsWith(only)
const counts: Record<string, number> = {}
const failures = []
const slow = []
const evm = createReferenceEvm()
for (const whole of publicStateTests((file) => only === undefined || only.startsWith(file) || file.startsWith(only))) {
  const test = { ...whole, cases: whole.cases.filter((each) => forks.includes(each.fork) && wants(caseId(whole, each))) }
  for (const { fork } of test.cases) counts[fork] = (counts[fork] ?? 0) + 1
  const startMs = performance.now()
  failures.push(...runStateTest(evm, test))
  slow.push({ name: `${test.file}::${test.name} under ${forks.at(-1)}`, ms: Math.round(performance.now() - startMs) })
}
slow.sort((a, b) => b.ms - a.ms)
parentPort?.postMessage({ counts, failures, slow: slow.slice(0, 10) } satisfies SpecReport)
