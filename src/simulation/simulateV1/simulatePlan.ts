import type { SimulatedBlockRequest, SimulationRefusal } from '#rpc/callPorts'

/** From the block that is simulated on. */
const maxBlocks = 256
/** As other clients have it on every chain. */
const secondsApart = 12

/** A block to simulate and where it stands. */
export type SimulatedPlan = SimulatedBlockRequest & { readonly number: number /** seconds */; readonly timestamp: number }

const refuse = (kind: SimulationRefusal['kind'], reason: string): SimulationRefusal => ({ kind, reason })

/**
 * The blocks asked for with their places, gaps filled with empty ones. Numbers and times that are not given follow from the block before; those
 * that are must rise. Pure.
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
