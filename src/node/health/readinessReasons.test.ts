import { expect, it } from 'vitest'
import type { FollowStatus } from '#consensus/follow'
import type { DriverStatus } from '#consensus/status'
import { executionPeersFault } from '#executionPeers/faults'
import { p2pFault } from '#p2p/faults'
import { emptyRoot as someHash } from '#types/ids'
import { nodeFault } from '../faults.ts'
import { diskProblems, engineProblems, executionProblems, firstStartProblem, followProblems, memoryProblems } from './health.ts'
import { readinessProblems } from './readiness.ts'
import { readinessReasons, reasonOf } from './readinessReasons.ts'

const l1 = (number: number, timestamp: number) => ({ number, timestamp, hash: someHash, parentHash: someHash })
const l2 = (number: number, timestamp: number) => ({ ...l1(number, timestamp), l1Origin: l1(1, 1), sequenceNumber: 0 })
const fault = nodeFault('OPTION_MISSING', { mode: 'all', option: 'x' })
const wait = { reason: 'l1-blobs', forMs: 90_000, isOverdue: true, fault: undefined } as unknown as DriverStatus['waits'][number]
const status: DriverStatus = {
  phase: 'deriving',
  l1: { latest: l1(1_000, 12_000), safe: undefined, finalized: undefined },
  origin: l1(10, 120),
  heads: { unsafe: l2(500, 900), safe: l2(490, 880), finalized: l2(400, 800) },
  labels: 'l1',
  wait: undefined,
  waits: [wait],
  resets: 0,
  fault: undefined,
}
const execution = { running: () => ({ number: 7, forMs: 9_000 }), abandoned: () => ({ number: 7, afterMs: 60_000 }) }
const follow = (change: object): FollowStatus => ({ ...change }) as FollowStatus

/** Texts of `/readyz` as the node makes them. */
const problems: readonly string[] = [
  ...readinessProblems(status, 1_000_000, 30),
  ...readinessProblems({ ...status, heads: undefined }, 1_000_000, 30),
  ...readinessProblems({ ...status, heads: { unsafe: l2(900, 13_000), safe: l2(490, 880), finalized: l2(400, 800) } }, 1_000_000),
  ...readinessProblems({ ...status, phase: 'starting' }, 1_000_000),
  ...readinessProblems({ ...status, phase: 'stopped' }, 1_000_000),
  ...readinessProblems({ ...status, fault }, 1_000_000),
  ...readinessProblems({ ...status, l1: { ...status.l1, latest: undefined } }, 1_000_000),
  ...engineProblems({ silentMs: undefined, unansweredMs: 0, behind: undefined }),
  ...engineProblems({ silentMs: 60_000, unansweredMs: 5_000, behind: { current: 5 } as never }),
  ...engineProblems({ silentMs: 10, unansweredMs: 0, behind: undefined, refused: { number: 6, head: 5 } }),
  ...executionProblems(execution as never, 4_000),
  firstStartProblem('restore'),
  ...diskProblems(undefined, 5),
  ...diskProblems(1, 5),
  ...memoryProblems({ maxBytes: 5, level: () => 'full' }),
  ...followProblems(follow({ fault })),
  ...followProblems(follow({ refusal: fault })),
]

it('node/health/readinessReasons: has exactly one reason for each text of /readyz', () => {
  expect(problems.length).toBeGreaterThan(15)
  expect(problems.filter((problem) => readinessReasons.filter(({ matches }) => matches.test(problem)).length !== 1)).toEqual([])
  // made by parts of the node whose texts other tests have
  for (const problem of [
    'L1 demands protocol version 1.6.0 for the fork of the next day, install a newer version',
    'proofs are not recorded: x',
    'proofs are recorded up to block 5, 100 s behind the head',
    'no fresh pending block: x; not connected: a',
    'the state begins with block 7, which is given, --trust.require demands attested',
    p2pFault('P2P_SILENT', { peers: 3, forSec: 61, rejected: 'timestamp_future' }).message,
    p2pFault('P2P_STOPPED', { reason: 'x' }).message,
    executionPeersFault('EXECUTION_P2P_STOPPED', { reason: 'x' }).message,
    'all RPC threads have ended and are being restarted',
    'no proofs are recorded yet',
    'the main thread of the node has not answered for 6 s',
    'the state of the node cannot be read: x',
  ]) {
    expect([problem, reasonOf(problem)?.code]).toEqual([problem, expect.any(String)])
  }
  expect(reasonOf('a text of a later version')).toBeUndefined()
})

it('node/health/readinessReasons: has different codes', () => {
  const codes = readinessReasons.map(({ code }) => code)
  expect(new Set(codes).size).toBe(codes.length)
})
