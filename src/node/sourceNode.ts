import { Registry } from 'prom-client'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createL2Source, defaultL2SourceOptions, type L2SourceDeps, type SourceNode } from '#l2/l2Source'
import { l2Metrics } from '#l2/metrics'

/** Opens a node of the chain for a command, which shows no metrics. Dispose of it. @throws Fault SOURCE_URL_INVALID (fatal) */
export function openSourceNode(deps: Omit<L2SourceDeps, 'metrics'>, config: RollupConfig, url: string): SourceNode {
  const options = { ...defaultL2SourceOptions(config, deps.clock.nowMs()), url, config }
  return createL2Source({ ...deps, metrics: l2Metrics.register(new Registry()) }, options)
}
