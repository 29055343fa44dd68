import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Log } from '#lib/log'
import { type BatchReader, decompressChannel, readBatches } from '../codec/channel.ts'
import type { Step } from '../ports.ts'
import { type Candidate, candidateOf } from '../rules/candidate.ts'
import { maxRlpBytes } from '../rules/channelLimits.ts'
import { item, type Stage } from '../stage.ts'
import type { L1Traversal } from './l1Traversal.ts'

export type ChannelReader = Stage<Candidate> & {
  /** Skips the rest of the channel. */
  flush(): void
}

/**
 * Creates the stage that reads the batches of each channel in order. The first malformed batch ends its channel. Limits and compression follow the
 * rules of the L1 block being read.
 * @see specs protocol/derivation.md, "Channel Reader"; fjord/derivation.md
 */
export function createChannelReader(config: RollupConfig, traversal: L1Traversal, below: Stage<Uint8Array>, log: Log): ChannelReader {
  let reader: BatchReader | undefined
  return {
    flush(): void {
      reader = undefined
    },
    next(): Step<Candidate> {
      for (;;) {
        const batch = reader?.next()
        if (batch !== undefined) return item(candidateOf(config, batch))
        if (reader !== undefined) log.debug('channel read', { l1: traversal.origin.number, end: reader.end })
        reader = undefined
        const step = below.next()
        if (step.kind !== 'item') return step
        const allowsBrotli = isActive(config.schedule, 'fjord', traversal.origin.timestamp)
        const rlp = decompressChannel(step.item, { maxRlpBytes: maxRlpBytes(config, traversal.origin), allowsBrotli })
        reader = readBatches(rlp, config.l2ChainId)
      }
    },
  }
}
