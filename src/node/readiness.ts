import type { DriverStatus, WaitReason } from '#consensus/status'

/** L1 blocks that derivation may be behind the head of L1 and still count as following it. */
const maxLagL1Blocks = 4

/** How long a wait for anything but the next L1 block may last before answers count as stale, in milliseconds. */
const maxWaitMs = 30_000

const waiting: Readonly<Record<WaitReason, string>> = {
  'l1-head': 'the next L1 block',
  'l1-poll': "L1's head",
  'l1-block': 'an L1 block',
  'l1-blobs': 'blobs of L1',
  'start-point': 'a start point on L1',
  engine: 'the execution half',
  reset: 'a reset that helps',
}

/** Why the node's answers are not fresh, in words for an operator; none: they are. Pure. */
export function readinessProblems({ phase, l1, origin, wait, fault }: DriverStatus, nowMs: number): readonly string[] {
  if (fault) return [`stopped: ${fault.message} (${fault.code})`]
  const why = wait?.fault ? `: ${wait.fault.message} (${wait.fault.code})` : ''
  if (phase === 'stopped') return ['derivation has stopped']
  if (phase === 'starting' || origin === undefined) return [`derivation has not started${why}`]
  const problems: string[] = []
  if (l1.latest === undefined) problems.push('the head of L1 is not known yet')
  else if (l1.latest.number - origin.number > maxLagL1Blocks) {
    problems.push(`derivation is at L1 block ${origin.number}, L1 at ${l1.latest.number}`)
  }
  if (wait && wait.reason !== 'l1-head' && nowMs - wait.sinceMs > maxWaitMs) {
    problems.push(`waiting for ${waiting[wait.reason]} for ${Math.round((nowMs - wait.sinceMs) / 1000)} s${why}`)
  }
  return problems
}
