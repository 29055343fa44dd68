import type { BlockMeter, Bundle, BundleMeter, Metering, MeterWork } from '#rpc/meterPorts'
import { SlicedRun } from '../slicedRun.ts'
import { meterBlock } from './meterBlock.ts'
import { meterBundle } from './meterBundle.ts'
import type { MeterDeps } from './timed.ts'

/** Creates the metering. It measures in the calling thread, so other work on the node makes the times longer. */
export function createMetering(deps: MeterDeps): Metering {
  return {
    block(hash): MeterWork<BlockMeter> | undefined {
      using view = deps.execution.view()
      const found = view.block(hash)
      if (found === undefined) return undefined
      const { block } = found
      return new SlicedRun(deps, block.header.parentHash, (parent) => meterBlock(deps, parent, block))
    },
    bundle: (bundle: Bundle): MeterWork<BundleMeter> => new SlicedRun(deps, undefined, (parent) => meterBundle(deps, parent, bundle)),
  }
}
