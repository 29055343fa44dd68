import { type BlockTimes, blockIntervalMs, firstDenimBlock, mayFollow, timeOf } from '#chainspec/blockTime'
import type { SimulatedBlockRequest, SimulationRefusal } from '#rpc/callPorts'

/** Maximum distance of the last block from the base block. */
const maxBlocks = 256
/** Default time between blocks before Denim, as in other clients on every chain. */
const defaultIntervalMs = 12_000

/** A block to simulate, with its number and time. */
export type SimulatedPlan = SimulatedBlockRequest & {
  readonly number: number
  /** seconds */
  readonly timestamp: number
  /** milliseconds of its time that the timestamp leaves out; 0 before Denim */
  readonly millisPart: number
}

const refuse = (kind: SimulationRefusal['kind'], reason: string): SimulationRefusal => ({ kind, reason })
const secondOf = (timeMs: number): number => Math.floor(timeMs / 1000)

/** Returns the default time of a block after a time in milliseconds: from Denim on, the time between the two blocks in the chain's schedule. */
function nextTimeMs(config: BlockTimes, number: number, beforeMs: number): number {
  return beforeMs + (number < firstDenimBlock(config) ? defaultIntervalMs : blockIntervalMs(config, number - 1))
}

/**
 * Returns the time of a block whose timestamp is given. The milliseconds are those of the default time if that is in the same second, else the least
 * that is not before the previous block. No source states the milliseconds of such a block; the timestamps are those of Base's client.
 */
function givenTimeMs(timestamp: number, defaultMs: number, beforeMs: number): number {
  return secondOf(defaultMs) === timestamp ? defaultMs : Math.max(timestamp * 1000, beforeMs)
}

/**
 * Assigns numbers and times to the requested blocks and fills gaps with empty blocks. Absent numbers and times follow from the previous block; given
 * numbers must increase, and given timestamps too, or from Denim on not decrease. Pure.
 */
export function planBlocks(
  config: BlockTimes,
  base: { readonly number: number; readonly timestamp: number },
  blocks: readonly SimulatedBlockRequest[],
): readonly SimulatedPlan[] | SimulationRefusal {
  const plans: SimulatedPlan[] = []
  let last = base.number
  let timeMs = last < firstDenimBlock(config) ? base.timestamp * 1000 : timeOf(config, last)
  const add = (request: SimulatedBlockRequest, ms: number): void => {
    timeMs = ms
    plans.push({ ...request, number: ++last, timestamp: secondOf(ms), millisPart: ms % 1000 })
  }
  for (const request of blocks) {
    const number = request.block.number ?? last + 1
    if (number <= last) return refuse('block-order', `block numbers must be in order: ${number} <= ${last}`)
    if (number - base.number > maxBlocks) return refuse('too-many-blocks', 'too many blocks')
    while (last + 1 < number) add({ block: {}, state: undefined, calls: [] }, nextTimeMs(config, last + 1, timeMs))
    const defaultMs = nextTimeMs(config, number, timeMs)
    const { timestamp = secondOf(defaultMs) } = request.block
    if (!mayFollow(config.schedule, secondOf(timeMs), timestamp))
      return refuse('time-order', `block timestamps must be in order: ${timestamp} <= ${secondOf(timeMs)}`)
    add(request, givenTimeMs(timestamp, defaultMs, timeMs))
  }
  return plans
}
