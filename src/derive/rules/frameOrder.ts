import type { Frame } from '../codec/frame.ts'

/** What becomes of a frame after another: it is kept, or dropped, or the earlier one is. */
function place(earlier: Frame, later: Frame): 'keep' | 'drop-later' | 'drop-earlier' {
  if (earlier.channelId === later.channelId) return !earlier.isLast && later.number === earlier.number + 1 ? 'keep' : 'drop-later'
  if (later.number !== 0) return 'drop-later'
  return earlier.isLast ? 'keep' : 'drop-earlier'
}

/**
 * The frames that are in order: each goes on with the channel before it, or begins one after a channel's end. A frame that begins a channel
 * discards an unfinished one before it.
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
