import type { RollupConfig } from '#chainspec/rollupConfig'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { createEthContext, type EthContextDeps } from '#node/serving/ethContext'
import type { SimulationOutcome } from '#rpc/callPorts'
import type { EthContext } from '#rpc/context'
import { simulate } from '#simulation/simulateV1/simulate'
import type { EthereumChain } from './chain.ts'
import { ethereumForkConfigs } from './forkConfigs.ts'
import type { EthereumChainSpec } from './genesis.ts'
import { ethereumSimulatedRules } from './simulatedRules.ts'
import { ethereumBlockTracing } from './tracing.ts'

/** Creates the context of a node's methods over a chain of Ethereum. Blocks are traced and simulated by Ethereum's rules. */
export function createEthereumContext(
  chain: EthereumChain,
  spec: EthereumChainSpec,
  config: RollupConfig,
  deps: Omit<EthContextDeps, 'execution' | 'config'>,
): Omit<EthContext, 'cancellation'> {
  const context = createEthContext({ ...deps, execution: chain, config })
  const [evm, traced] = [createWasmEvm(), createTracedWasmEvm()]
  const rules = ethereumSimulatedRules(spec.schedule)
  return {
    ...context,
    forkConfigs: ethereumForkConfigs(spec),
    tracing: { ...context.tracing, known: (hash) => ethereumBlockTracing({ spec, traced, view: () => chain.view() }, hash) },
    calls: {
      ...context.calls,
      simulate(at, request, gasCap, timer): SimulationOutcome | undefined {
        using view = chain.view()
        const parent = view.parent(at.hash)
        return parent && simulate({ evm, traced, config, rules, timer }, parent, request, gasCap)
      },
    },
  }
}
