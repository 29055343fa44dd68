import type { Frame } from '../codec/frame.ts'

/** Decides on two consecutive frames: keep both, drop the later one, or drop the earlier one. */
function place(earlier: Frame, later: Frame): 'keep' | 'drop-later' | 'drop-earlier' {
  if (earlier.channelId === later.channelId) return !earlier.isLast && later.number === earlier.number + 1 ? 'keep' : 'drop-later'
  if (later.number !== 0) return 'drop-later'
  return earlier.isLast ? 'keep' : 'drop-earlier'
}

/**
 * Returns the frames that are in order: each continues the channel of the frame before it, or begins a channel after the end of another. A frame that
 * begins a channel discards an unfinished channel before it.
 * @see specs protocol/holocene/derivation.md, "Frame Queue"
 */
export function orderedFrames(frames: readonly Frame[]): readonly Frame[] {
  const kept: Frame[] = []
  for (const frame of frames) {
    let previous = kept.at(-1)
    while (previous !== undefined && place(previous, frame) === 'drop-earlier') {
      kept.pop()
      previous = kept.at(-1)
    }
    if (previous === undefined || place(previous, frame) === 'keep') kept.push(frame)
  }
  return kept
}
