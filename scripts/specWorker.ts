// One half of the state tests: `workerData` says which files.
import { parentPort, workerData } from 'node:worker_threads'
import { createReferenceEvm } from '#evm/referenceEvm'
import { publicStateTests } from '#test/vectors/publicStateTests'
import { runStateTest } from '#test/vectors/runStateTest'
import { caseId } from '#test/vectors/stateTestCases'
import type { SpecReport, SpecShare } from './spec.ts'

const { first, step, only } = workerData as SpecShare
const wants = (id: string): boolean => only === undefined || id.startsWith(only)
const counts: Record<string, number> = {}
const failures = []
const slow = []
const evm = createReferenceEvm()
for (const test of publicStateTests(
  (file, index) => index % step === first && (only === undefined || only.startsWith(file) || file.startsWith(only)),
)) {
  for (const each of test.cases) if (wants(caseId(test, each))) counts[each.fork] = (counts[each.fork] ?? 0) + 1
  const startMs = performance.now()
  failures.push(...runStateTest(evm, test, wants))
  slow.push({ name: `${test.file}::${test.name}`, ms: Math.round(performance.now() - startMs) })
}
slow.sort((a, b) => b.ms - a.ms)
parentPort?.postMessage({ counts, failures, slow: slow.slice(0, 10) } satisfies SpecReport)
