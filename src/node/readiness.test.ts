import { expect, it } from 'vitest'
import type { DriverStatus } from '#consensus/status'
import { Fault } from '#lib/fault'
import { type Hash, zeroHash } from '#types/ids'
import { readinessProblems } from './readiness.ts'

const ref = (number: number) => ({ number, hash: zeroHash as Hash, parentHash: zeroHash as Hash, timestamp: number * 12 })
const following: DriverStatus = {
  phase: 'deriving',
  l1: { latest: ref(100), safe: ref(97), finalized: ref(95) },
  origin: ref(100),
  heads: undefined,
  wait: { reason: 'l1-head', sinceMs: 0, failures: 0 },
  resets: 0,
  fault: undefined,
}
const fault = new Fault('L1_UNREACHABLE', 'retry', 'no endpoint answers', 'check them', {})

it.each<[string, DriverStatus, readonly string[]]>([
  ['at the tip', following, []],
  ['before the start', { ...following, phase: 'starting', origin: undefined }, ['derivation has not started']],
  [
    'before the start, for a reason',
    { ...following, phase: 'starting', origin: undefined, wait: { reason: 'l1-poll', sinceMs: 0, failures: 3, fault } },
    ['derivation has not started: no endpoint answers (L1_UNREACHABLE)'],
  ],
  ['far behind', { ...following, origin: ref(50) }, ['derivation is at L1 block 50, L1 at 100']],
  ['in a short wait', { ...following, wait: { reason: 'l1-block', sinceMs: 90_000, failures: 1 } }, []],
  [
    'in a long wait',
    { ...following, wait: { reason: 'l1-block', sinceMs: 60_000, failures: 9, fault } },
    ['waiting for an L1 block for 40 s: no endpoint answers (L1_UNREACHABLE)'],
  ],
  ['stopped by a fault', { ...following, phase: 'stopped', fault }, ['stopped: no endpoint answers (L1_UNREACHABLE)']],
])('node/readiness: %s', (_what, status, problems) => {
  expect(readinessProblems(status, 100_000)).toEqual(problems)
})
