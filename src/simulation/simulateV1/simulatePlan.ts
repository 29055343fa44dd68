import type { SimulatedBlockRequest, SimulationRefusal } from '#rpc/callPorts'

/** Maximum distance of the last block from the base block. */
const maxBlocks = 256
/** Default time between blocks, as in other clients on every chain. */
const secondsApart = 12

/** A block to simulate, with its number and time. */
export type SimulatedPlan = SimulatedBlockRequest & { readonly number: number /** seconds */; readonly timestamp: number }

const refuse = (kind: SimulationRefusal['kind'], reason: string): SimulationRefusal => ({ kind, reason })

/**
 * Assigns numbers and times to the requested blocks and fills gaps with empty blocks. Absent numbers and times follow from the previous block; given
 * ones must increase. Pure.
 */
export function planBlocks(
  base: { readonly number: number; readonly timestamp: number },
  blocks: readonly SimulatedBlockRequest[],
): readonly SimulatedPlan[] | SimulationRefusal {
  const plans: SimulatedPlan[] = []
  let { number: last, timestamp } = base
  for (const request of blocks) {
    const number = request.block.number ?? last + 1
    if (number <= last) return refuse('block-order', `block numbers must be in order: ${number} <= ${last}`)
    if (number - base.number > maxBlocks) return refuse('too-many-blocks', 'too many blocks')
    for (last++; last < number; last++) {
      timestamp += secondsApart
      plans.push({ block: {}, state: undefined, calls: [], number: last, timestamp })
    }
    const time = request.block.timestamp ?? timestamp + secondsApart
    if (time <= timestamp) return refuse('time-order', `block timestamps must be in order: ${time} <= ${timestamp}`)
    timestamp = time
    plans.push({ ...request, number, timestamp })
  }
  return plans
}
