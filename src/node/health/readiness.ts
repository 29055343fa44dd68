import type { DriverStatus } from '#consensus/status'
import type { WaitReason } from '#consensus/waitLadders'
import type { Wait } from '#consensus/waits'

/** By how much L1 time derivation may be behind the head of L1 and still count as following it: four slots of mainnet. */
const maxLagL1Sec = 48

const waiting: Readonly<Record<WaitReason, string>> = {
  'l1-head': 'the next L1 block',
  'l1-poll': "L1's head",
  'l1-block': 'an L1 block',
  'l1-blobs': 'blobs of L1',
  'start-point': 'a start point on L1',
  engine: 'the execution half',
  reset: 'a reset that helps',
  'source-head': "the source's head",
  'source-block': 'a block of the source',
  'source-proofs': 'proofs of the execution half',
  gap: 'the ancestors of a block',
  'sequencer-origin': 'an L1 block to sequence on',
  'sequencer-lag': 'the safe head to come near what was sequenced',
}

/**
 * Why the node's answers are not fresh, in words for an operator; none: they are. Pure.
 * What is derived is held against L1's head, in L1's own time, however old that is: a recorded L1 is as good as a living one. The wall clock counts only where
 * blocks are followed that L1 does not confirm yet.
 * @param sourceMaxLagSec how old the unsafe head may be where a source of unsafe blocks is followed; undefined: none is
 */
export function readinessProblems(status: DriverStatus, nowMs: number, sourceMaxLagSec?: number): readonly string[] {
  const { phase, fault, wait, waits, labels, origin } = status
  if (fault) return [`stopped: ${fault.message} (${fault.code})`]
  if (phase === 'stopped') return ['derivation has stopped']
  const what = labels === 'l1' ? 'derivation' : 'following'
  if (phase === 'starting' || (labels === 'l1' && origin === undefined)) return [`${what} has not started${wait ? whyOf(wait) : ''}`]
  const late = waits.filter(({ reason, isOverdue }) => isOverdue && reason !== 'l1-head')
  return [
    ...l1Problems(status),
    ...sourceProblems(status, nowMs, sourceMaxLagSec),
    ...late.map((one) => `waiting for ${waiting[one.reason]} for ${Math.round(one.forMs / 1000)} s${whyOf(one)}`),
  ]
}

const whyOf = ({ fault }: Wait): string => (fault ? `: ${fault.message} (${fault.code})` : '')

function l1Problems({ labels, l1, origin }: DriverStatus): string[] {
  if (labels !== 'l1' || origin === undefined) return []
  if (l1.latest === undefined) return ['the head of L1 is not known yet']
  const lagSec = l1.latest.timestamp - origin.timestamp
  // the next block is being read, however long L1 took for it
  const isNext = l1.latest.number - origin.number <= 1
  if (isNext || lagSec <= maxLagL1Sec) return []
  return [`derivation is at L1 block ${origin.number}, ${lagSec} s of L1 behind its head, block ${l1.latest.number}`]
}

function sourceProblems({ heads }: DriverStatus, nowMs: number, maxLagSec: number | undefined): string[] {
  if (maxLagSec === undefined) return []
  if (heads === undefined) return ['the unsafe head is not known yet']
  const ageSec = Math.floor(nowMs / 1000) - heads.unsafe.timestamp
  return ageSec > maxLagSec ? [`the unsafe head, block ${heads.unsafe.number}, is ${ageSec} s old`] : []
}
