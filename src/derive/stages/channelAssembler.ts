import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import type { Frame } from '../codec/frame.ts'
import type { Step } from '../ports.ts'
import { isTimedOut, maxRlpBytes } from '../rules/channelLimits.ts'
import { item, type Stage } from '../stage.ts'
import { Channel } from './channel.ts'
import type { L1Traversal } from './l1Traversal.ts'

/**
 * Creates the stage that assembles one channel at a time from frames in order, from Holocene on. Frame 0 begins a new channel and discards an
 * unfinished one.
 * @see specs protocol/holocene/derivation.md, "Channel Bank"
 */
export function createChannelAssembler(config: RollupConfig, traversal: L1Traversal, below: Stage<Frame>, log: Log): Stage<Uint8Array> {
  let channel: Channel | undefined

  const refuse = (into: Channel, frame: Frame): string | undefined =>
    frame.channelId === into.id && frame.number !== into.frameCount ? 'out of order' : into.add(frame)

  const ingest = (frame: Frame): void => {
    if (frame.number === 0) channel = new Channel(frame.channelId, traversal.origin.number)
    const refusal = channel === undefined ? 'no channel is open' : refuse(channel, frame)
    if (refusal !== undefined) log.debug('frame dropped', { channel: frame.channelId, number: frame.number, reason: refusal })
    if (channel === undefined || channel.sizeBytes <= maxRlpBytes(config, traversal.origin)) return
    log.warn('channel dropped, too large', { channel: channel.id, sizeBytes: channel.sizeBytes })
    channel = undefined
  }

  return {
    next(): Step<Uint8Array> {
      for (;;) {
        if (channel !== undefined && isTimedOut(config, channel.openedAt, traversal.origin)) {
          log.info('channel timed out', { channel: channel.id, l1: traversal.origin.number })
          channel = undefined
        }
        const step = below.next()
        if (step.kind !== 'item') return step
        ingest(step.item)
        if (!channel?.isReady) continue
        const data = channel.data()
        channel = undefined
        return item(data)
      }
    },
  }
}
