import type { CallOutcome, CallRuns, ListedCall, SimulationOutcome } from '#rpc/callPorts'
import { zeroHash } from '#types/ids'
import { simulate } from '../simulateV1/simulate.ts'
import { opSimulatedRules } from '../simulateV1/simulatedRules.ts'
import type { SimulationDeps } from '../simulationDeps.ts'
import { listCall } from './accessList.ts'
import { callMany } from './callMany.ts'
import { placeOf } from './nextSlot.ts'

/** Creates the runner of requests with more than one message, over views of the chain. */
export function createCallRuns({ execution, evm, traced, config }: Omit<SimulationDeps, 'clock'>): CallRuns {
  const rules = opSimulatedRules(config)
  return {
    list(at, message, timer, overrides): ListedCall | undefined {
      using view = execution.view()
      const parent = placeOf(view, config, at)
      return parent && listCall({ evm, traced, config, timer }, parent, message, overrides)
    },
    many(at, bundles, timer, state): readonly (readonly CallOutcome[])[] | undefined {
      using view = execution.view()
      const parent = placeOf(view, config, at)
      return parent && callMany({ evm, config, timer }, parent, bundles, state)
    },
    simulate(at, request, gasCap, timer): SimulationOutcome | undefined {
      using view = execution.view()
      const parent = view.parent(at.hash)
      if (parent === undefined) return undefined
      const isSealed = view.known.executed(at.hash) !== undefined || view.known.committed(at.hash) !== undefined
      const on = isSealed ? parent : { ...parent, hash: zeroHash } // the id of a pending block is valid in views only
      return simulate({ evm, traced, config, rules, timer }, on, request, gasCap)
    },
  }
}
