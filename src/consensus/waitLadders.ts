/**
 * Reasons of a wait of the consensus half. `l1-head` is the normal wait at the tip; `reset` the pause between resets without progress; `gap` a known
 * head with unknown ancestors; `sequencer-origin` an L1 block for the next sequenced block; `sequencer-lag` a safe head too far behind the sequenced
 * blocks.
 */
export const waitReasons = [
  'l1-head',
  'l1-poll',
  'l1-block',
  'l1-blobs',
  'start-point',
  'engine',
  'reset',
  'source-head',
  'source-block',
  'source-proofs',
  'gap',
  'sequencer-origin',
  'sequencer-lag',
] as const
export type WaitReason = (typeof waitReasons)[number]

/**
 * Steps of a long wait, from mild to strong: retry; request its cause again (a head, a canonical block, a missing ancestor); find a start point
 * again; drop unconfirmed blocks and continue from confirmed ones.
 */
export const escalations = ['retry', 'back-fill', 'reset', 're-anchor'] as const
export type Escalation = (typeof escalations)[number]

/**
 * Time of each step, in milliseconds since the wait began; a step that cannot help is absent. A step is repeated after the same time, until a higher
 * step is due.
 */
export type Ladder = Readonly<Partial<Record<Escalation, number>>>

const second = 1_000
const minute = 60 * second

/** Steps of each wait. `retry` runs from the beginning: its entry is the deadline after which data count as stale and the log warns. */
export const ladders: Readonly<Record<WaitReason, Ladder>> = {
  // L1 may stop for long, and a recorded L1 stays at its end: a reset does not help
  'l1-head': { retry: 5 * minute },
  'l1-poll': { retry: 30 * second },
  // the announced block may have been replaced: the heads are requested again, then the start point is searched
  'l1-block': { retry: 30 * second, 'back-fill': minute, reset: 3 * minute },
  'l1-blobs': { retry: 30 * second, 'back-fill': minute, reset: 3 * minute },
  'start-point': { retry: 30 * second },
  // the engine is local and back within seconds of a restart; it may then have lost blocks
  engine: { retry: 10 * second, reset: minute },
  reset: { retry: 30 * second, 're-anchor': 10 * minute },
  'source-head': { retry: 30 * second },
  'source-block': { retry: 15 * second, 'back-fill': 30 * second, reset: 2 * minute },
  'source-proofs': { retry: minute },
  gap: { 'back-fill': second, retry: 30 * second, reset: 2 * minute, 're-anchor': 10 * minute },
  // derivation watches L1 and drops blocks on replaced L1 blocks; the batcher runs elsewhere
  'sequencer-origin': { retry: 30 * second },
  'sequencer-lag': { retry: minute },
}

/** Returns the highest step whose time has passed; undefined before the first. Pure. */
export function dueStep(ladder: Ladder, ageMs: number): Escalation | undefined {
  return escalations.findLast((step) => ageMs >= (ladder[step] ?? Number.POSITIVE_INFINITY))
}
