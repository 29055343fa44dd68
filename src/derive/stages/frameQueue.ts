import type { Log } from '#lib/log'
import { decodeFrames, type Frame } from '../codec/frame.ts'
import type { Step } from '../ports.ts'
import { item, type Stage } from '../stage.ts'

/**
 * Creates the stage that decodes the frames of batcher transactions, in L1 order. One malformed frame invalidates its whole transaction.
 * @param order selects the frames of one transaction that are kept: all, or from Holocene on those in order
 * @see specs protocol/derivation.md, "Frame Queue"; holocene/derivation.md, "Frame Queue"
 */
export function createFrameQueue(below: Stage<Uint8Array>, order: (frames: readonly Frame[]) => readonly Frame[], log: Log): Stage<Frame> {
  let frames: readonly Frame[] = []
  let at = 0
  return {
    next(): Step<Frame> {
      for (;;) {
        const frame = frames[at++]
        if (frame !== undefined) return item(frame)
        const step = below.next()
        if (step.kind !== 'item') return step
        const decoded = decodeFrames(step.item)
        if (decoded.kind === 'malformed') log.warn('malformed batcher transaction ignored', { reason: decoded.reason })
        frames = decoded.kind === 'decoded' ? order(decoded.value) : []
        at = 0
      }
    },
  }
}
