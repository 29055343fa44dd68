import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'

export type CloseReason = 'full' | 'duration' | 'window' | 'timeout'
export const closeReasons = ['full', 'duration', 'window', 'timeout'] as const

export type ChannelAge = {
  /** number of the last L1 block when the first block was added */
  readonly openedAtL1: number
  /** number of the first block's L1 origin */
  readonly firstOrigin: number
  readonly estimatedBytes: number
  readonly rlpBytes: number
}

export type ClosingRules = {
  readonly targetBytes: number
  readonly maxRlpBytes: number
  readonly maxL1Blocks: number
  readonly marginL1Blocks: number
}

/** Returns the number of L1 blocks between the first and the last frame of a channel. @see specs protocol/granite/derivation.md */
function channelTimeout(config: RollupConfig, l1TimeSec: number): number {
  return isActive(config.schedule, 'granite', l1TimeSec) ? config.channelTimeoutGraniteBlocks : config.channelTimeoutBlocks
}

/** Returns the reason to close a channel now; undefined while it stays open. Pure. */
export function closeReason(
  channel: ChannelAge,
  l1: { readonly number: number; readonly timestamp: number },
  config: RollupConfig,
  rules: ClosingRules,
): CloseReason | undefined {
  if (channel.estimatedBytes >= rules.targetBytes || channel.rlpBytes >= rules.maxRlpBytes) return 'full'
  const age = l1.number - channel.openedAtL1
  if (age >= rules.maxL1Blocks) return 'duration'
  if (age >= channelTimeout(config, l1.timestamp) - rules.marginL1Blocks) return 'timeout'
  if (l1.number >= channel.firstOrigin + config.sequencingWindowBlocks - rules.marginL1Blocks) return 'window'
  return undefined
}

/** Returns whether the next L1 block is too late for a block of this L1 origin. @see specs protocol/derivation.md, "Batch Queue" */
export function isPastWindow(originNumber: number, l1Number: number, config: RollupConfig): boolean {
  return l1Number + 1 > originNumber + config.sequencingWindowBlocks
}
