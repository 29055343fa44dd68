import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Hex } from '#lib/hex'
import type { Log } from '#lib/log'
import type { Frame } from '../codec/frame.ts'
import type { Step } from '../ports.ts'
import { isTimedOut, maxBankBytes } from '../rules/channelLimits.ts'
import { item, type Stage } from '../stage.ts'
import { Channel } from './channel.ts'
import type { L1Traversal } from './l1Traversal.ts'

/**
 * Creates the stage that collects the frames of many channels, in any order, and emits complete channels, before Holocene. It reads a channel before
 * it takes the next frame, because pruning depends on that order.
 * @see specs protocol/derivation.md, "Channel Bank"
 */
export function createChannelBank(config: RollupConfig, traversal: L1Traversal, below: Stage<Frame>, log: Log): Stage<Uint8Array> {
  /** in the order of their first frames */
  const channels = new Map<Hex, Channel>()
  let totalBytes = 0

  const remove = (channel: Channel): void => {
    channels.delete(channel.id)
    totalBytes -= channel.sizeBytes
  }

  /** Drops channels that timed out. The oldest are first in the map. */
  const dropTimedOut = (): void => {
    for (const channel of channels.values()) {
      if (!isTimedOut(config, channel.openedAt, traversal.origin)) return
      log.info('channel timed out', { channel: channel.id, l1: traversal.origin.number })
      remove(channel)
    }
  }

  const read = (): Channel | undefined => {
    const readsAny = isActive(config.schedule, 'canyon', traversal.origin.timestamp)
    for (const channel of channels.values()) {
      if (channel.isReady) return channel
      if (!readsAny) return undefined
    }
    return undefined
  }

  const prune = (): void => {
    const maxBytes = maxBankBytes(config, traversal.origin)
    for (const channel of channels.values()) {
      if (totalBytes <= maxBytes) return
      log.warn('channel pruned', { channel: channel.id, sizeBytes: channel.sizeBytes })
      remove(channel)
    }
  }

  const ingest = (frame: Frame): void => {
    const channel = channels.get(frame.channelId) ?? new Channel(frame.channelId, traversal.origin.number)
    channels.set(channel.id, channel)
    const before = channel.sizeBytes
    const refusal = channel.add(frame)
    if (refusal !== undefined) {
      log.debug('frame dropped', { channel: frame.channelId, number: frame.number, reason: refusal })
      return
    }
    totalBytes += channel.sizeBytes - before
    prune()
  }

  return {
    next(): Step<Uint8Array> {
      for (;;) {
        dropTimedOut()
        const channel = read()
        if (channel !== undefined) {
          remove(channel)
          return item(channel.data())
        }
        const step = below.next()
        if (step.kind !== 'item') return step
        ingest(step.item)
      }
    },
  }
}
