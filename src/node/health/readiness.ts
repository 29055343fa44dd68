import type { DriverStatus } from '#consensus/status'
import type { WaitReason } from '#consensus/waitLadders'
import type { Wait } from '#consensus/waits'

/** Longest L1 time that derivation may be behind the head of L1 and still be ready: four slots of mainnet. */
export const maxLagL1Sec = 48
/** Longest time that the head of L1 may be older than the unsafe head: 50 slots of mainnet. */
const maxL1AgeSec = 600

const waiting: Readonly<Record<WaitReason, string>> = {
  'l1-head': 'the next L1 block',
  'l1-poll': "L1's head",
  'l1-block': 'an L1 block',
  'l1-blobs': 'L1 blobs',
  'start-point': 'a start point on L1',
  engine: 'the execution half',
  reset: 'progress after a reset',
  'source-head': "the source's head",
  'source-block': 'a block of the source',
  'source-proofs': 'proofs of the execution half',
  gap: 'the missing ancestors of a block',
  'sequencer-origin': 'an L1 origin for the next block',
  'sequencer-lag': 'the safe head to catch up with the sequenced blocks',
}

/**
 * Returns why the node is not ready, for the operator; empty: it is ready. Pure.
 * Compares derivation with the L1 head in L1 time, so a recorded L1 is as good as a live one. The wall clock counts only when unsafe blocks of a source
 * are followed.
 * @param sourceMaxLagSec maximum age of the unsafe head when a source of unsafe blocks is followed; undefined: none is followed
 */
export function readinessProblems(status: DriverStatus, nowMs: number, sourceMaxLagSec?: number): readonly string[] {
  const { phase, fault, wait, waits, labels, origin } = status
  if (fault) return [`stopped: ${fault.message} (${fault.code})`]
  if (phase === 'stopped') return ['derivation has stopped']
  const activity = labels === 'l1' ? 'derivation' : 'following'
  if (phase === 'starting' || (labels === 'l1' && origin === undefined)) return [`${activity} has not started${wait ? whyOf(wait) : ''}`]
  const late = waits.filter(({ reason, isOverdue }) => isOverdue && reason !== 'l1-head')
  return [
    ...l1Problems(status),
    ...sourceProblems(status, nowMs, sourceMaxLagSec),
    ...late.map((overdue) => `waiting for ${waiting[overdue.reason]} for ${Math.round(overdue.forMs / 1000)} s${whyOf(overdue)}`),
  ]
}

const whyOf = ({ fault }: Wait): string => (fault ? `: ${fault.message} (${fault.code})` : '')

function l1Problems({ labels, l1, origin, heads }: DriverStatus): string[] {
  if (labels !== 'l1' || origin === undefined) return []
  if (l1.latest === undefined) return ['the L1 head is not known yet']
  const ageSec = (heads?.unsafe.timestamp ?? 0) - l1.latest.timestamp
  if (ageSec > maxL1AgeSec) return [`the L1 head, block ${l1.latest.number}, is ${ageSec} s older than the unsafe head`]
  const lagSec = l1.latest.timestamp - origin.timestamp
  // derivation reads the next block, however long L1 took for it
  const isNext = l1.latest.number - origin.number <= 1
  if (isNext || lagSec <= maxLagL1Sec) return []
  return [`derivation is at L1 block ${origin.number}, ${lagSec} s of L1 time behind the L1 head, block ${l1.latest.number}`]
}

function sourceProblems({ heads }: DriverStatus, nowMs: number, maxLagSec: number | undefined): string[] {
  if (maxLagSec === undefined) return []
  if (heads === undefined) return ['the unsafe head is not known yet']
  const ageSec = Math.floor(nowMs / 1000) - heads.unsafe.timestamp
  return ageSec > maxLagSec ? [`the unsafe head, block ${heads.unsafe.number}, is ${ageSec} s old`] : []
}
