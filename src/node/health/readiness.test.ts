import { expect, it } from 'vitest'
import type { DriverStatus } from '#consensus/status'
import type { Wait } from '#consensus/waits'
import { Fault } from '#lib/fault'
import { type Hash, zeroHash } from '#types/ids'
import { readinessProblems } from './readiness.ts'

const ref = (number: number) => ({ number, hash: zeroHash as Hash, parentHash: zeroHash as Hash, timestamp: number * 12 })
const fault = new Fault('L1_UNREACHABLE', 'retry', 'no endpoint answers', 'check them', {})

const waitOf = (reason: Wait['reason'], forMs: number, more: Partial<Wait> = {}): Wait => ({
  reason,
  sinceMs: 0,
  forMs,
  failures: 1,
  step: 'retry',
  isOverdue: false,
  ...more,
})

const unsafe = { ...ref(7), timestamp: 70, l1Origin: { number: 1, hash: zeroHash }, sequenceNumber: 0 }
const following: DriverStatus = {
  phase: 'deriving',
  l1: { latest: ref(100), safe: ref(97), finalized: ref(95) },
  origin: ref(100),
  heads: { unsafe, safe: unsafe, finalized: unsafe },
  labels: 'l1',
  wait: undefined,
  waits: [],
  resets: 0,
  fault: undefined,
}
const headsAt = (timestamp: number) => ({ unsafe: { ...unsafe, timestamp }, safe: unsafe, finalized: unsafe })
const starting = { ...following, phase: 'starting', origin: undefined } as const
const underived: DriverStatus = {
  ...following,
  labels: 'source',
  origin: undefined,
  l1: { latest: undefined, safe: undefined, finalized: undefined },
}

const waitingFor = (wait: Wait): DriverStatus => ({ ...following, wait, waits: [waitOf('l1-head', 9, { isOverdue: true }), wait] })

it.each<[string, DriverStatus, readonly string[]]>([
  ['at the tip', following, []],
  ['at the tip of an L1 that makes no blocks', { ...following, waits: [waitOf('l1-head', 86_400_000, { isOverdue: true })] }, []],
  ['before the start', starting, ['derivation has not started']],
  [
    'before the start, for a reason',
    { ...starting, wait: waitOf('l1-poll', 0, { failures: 3, fault }) },
    ['derivation has not started: no endpoint answers (L1_UNREACHABLE)'],
  ],
  ['before the start, without L1', { ...underived, phase: 'starting' }, ['following has not started']],
  ['ten minutes of blocks after the L1 head', { ...following, heads: headsAt(1_800) }, []],
  [
    'more than ten minutes of blocks after the L1 head',
    { ...following, heads: headsAt(1_801) },
    ['the L1 head, block 100, is 601 s older than the unsafe head'],
  ],
  ['48 s of L1 behind', { ...following, origin: ref(96) }, []],
  ['far behind', { ...following, origin: ref(50) }, ['derivation is at L1 block 50, 600 s of L1 time behind the L1 head, block 100']],
  [
    'behind by few blocks with long slots',
    { ...following, origin: { ...ref(98), timestamp: 100 } },
    ['derivation is at L1 block 98, 1100 s of L1 time behind the L1 head, block 100'],
  ],
  ['behind by one long slot', { ...following, origin: { ...ref(99), timestamp: 100 } }, []],
  ['in a short wait', waitingFor(waitOf('l1-block', 10_000)), []],
  [
    'in a long wait',
    waitingFor(waitOf('l1-block', 40_000, { isOverdue: true, fault })),
    ['waiting for an L1 block for 40 s: no endpoint answers (L1_UNREACHABLE)'],
  ],
  ['stopped by a fault', { ...following, phase: 'stopped', fault }, ['stopped: no endpoint answers (L1_UNREACHABLE)']],
  ['without L1', underived, []],
])('node/health/readiness: %s', (_what, status, problems) => {
  expect(readinessProblems(status, 1e15)).toEqual(problems)
})

it.each<[string, number, readonly string[]]>([
  ['fresh', 100_000, []],
  ['too old', 101_000, ['the unsafe head, block 7, is 31 s old']],
  ['ahead of a wall clock that was set back', 0, []],
])('node/health/readiness: checks the unsafe head with a source: %s', (_case, nowMs, problems) => {
  expect(readinessProblems(following, nowMs, 30)).toEqual(problems)
  expect(readinessProblems(underived, nowMs, 30)).toEqual(problems)
})

it('node/health/readiness: reports an unknown unsafe head with a source', () => {
  expect(readinessProblems({ ...underived, heads: undefined }, 0, 30)).toEqual(['the unsafe head is not known yet'])
})
