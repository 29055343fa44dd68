/**
 * What the consensus half cannot go on without. `l1-head` is the normal wait at the tip, `reset` the pause between resets that change nothing,
 * `gap` a known head whose ancestors are not known; `sequencer-origin` an L1 block on which the next block can be sequenced, `sequencer-lag` the
 * safe head, too far behind the blocks that were.
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
 * What is done about a wait, ever more: try again · ask for what it hangs on anew (a head, a canonical block, a missing ancestor) · look for a
 * start point again · give up what cannot be confirmed and go on from what can.
 */
export const escalations = ['retry', 'back-fill', 'reset', 're-anchor'] as const
export type Escalation = (typeof escalations)[number]

/**
 * When each step is due, in milliseconds since the wait began; a step that cannot help is absent. One that was taken is due again
 * after as long, until a higher one is.
 */
export type Ladder = Readonly<Partial<Record<Escalation, number>>>

const second = 1_000
const minute = 60 * second

/** `retry` runs from the beginning: its entry is the deadline after which answers count as stale and the log warns. */
export const ladders: Readonly<Record<WaitReason, Ladder>> = {
  // L1 may stop for long, a recorded one for ever: nothing here is wrong that a reset repairs
  'l1-head': { retry: 5 * minute },
  'l1-poll': { retry: 30 * second },
  // the block that was announced may have been replaced since: the heads are asked for again, then the start point
  'l1-block': { retry: 30 * second, 'back-fill': minute, reset: 3 * minute },
  'l1-blobs': { retry: 30 * second, 'back-fill': minute, reset: 3 * minute },
  'start-point': { retry: 30 * second },
  // near, and back within seconds when it is restarted; one that comes back may have lost blocks
  engine: { retry: 10 * second, reset: minute },
  reset: { retry: 30 * second, 're-anchor': 10 * minute },
  'source-head': { retry: 30 * second },
  'source-block': { retry: 15 * second, 'back-fill': 30 * second, reset: 2 * minute },
  'source-proofs': { retry: minute },
  gap: { 'back-fill': second, retry: 30 * second, reset: 2 * minute, 're-anchor': 10 * minute },
  // derivation sees to L1 and gives up what was built on replaced blocks; batches come from elsewhere
  'sequencer-origin': { retry: 30 * second },
  'sequencer-lag': { retry: minute },
}

/** The highest step whose deadline has passed; undefined before the first. Pure. */
export function dueStep(ladder: Ladder, ageMs: number): Escalation | undefined {
  return escalations.findLast((step) => ageMs >= (ladder[step] ?? Number.POSITIVE_INFINITY))
}
