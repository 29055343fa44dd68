import type { Log } from '#lib/log'
import { decodeFrames, type Frame } from '../codec/frame.ts'
import type { Step } from '../ports.ts'
import { item, type Stage } from '../stage.ts'

/**
 * Cuts the data of batcher transactions into frames, in L1 order; one malformed frame voids its whole transaction.
 * @param order what of one transaction's frames is kept: all, or (Holocene) those in order
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
        if (decoded.kind === 'malformed') log.warn('batcher transaction ignored', { reason: decoded.reason })
        frames = decoded.kind === 'decoded' ? order(decoded.value) : []
        at = 0
      }
    },
  }
}
