import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Execution } from '#blockchain/execution'
import { ExecutionPeers } from '#executionPeers/executionPeers'
import { executionPeersMetrics } from '#executionPeers/metrics'
import type { ExecutionPeersSettings } from '#executionPeers/thread/protocol'
import { openIdentity } from '#p2p/identity'
import { publishedPeersOf } from '#p2p/networks'
import type { PartDeps } from '../nodeDeps.ts'
import type { ExecutionPeersOptions, NodeOptions } from '../nodeOptions.ts'

export type ExecutionPeersPartDeps = PartDeps & { readonly execution: Pick<Execution, 'view'> }

/** Joins the execution network. @throws Fault EXECUTION_P2P_PORT, EXECUTION_P2P_PEER, P2P_KEY (fatal) */
export async function openExecutionPeers(
  { clock, log, registry, execution }: ExecutionPeersPartDeps,
  {
    config,
    datadir,
    version,
    ...options
  }: Pick<NodeOptions, 'config' | 'datadir' | 'version'> & { readonly executionPeers: ExecutionPeersOptions },
): Promise<ExecutionPeers> {
  const { identityFile, bootnodes, ...settings } = options.executionPeers
  const folder = join(datadir, 'p2p')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return await ExecutionPeers.open(
    { clock, log, metrics: executionPeersMetrics.register(registry), view: () => execution.view() },
    {
      ...settings,
      bootnodes: bootnodesOf(config, bootnodes),
      config: { l2ChainId: config.l2ChainId, schedule: config.schedule, genesis: config.genesis },
      knownNodesFile: join(folder, 'execution-peers.json'),
      identity: openIdentity(identityFile ?? join(folder, 'execution.hex')),
      agent: `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`,
    },
  )
}

function bootnodesOf({ l2ChainId }: NodeOptions['config'], given: readonly string[]): ExecutionPeersSettings['bootnodes'] {
  const published = publishedPeersOf(l2ChainId)?.executionBootnodes
  return given.length === 0 && published ? published : { v4: given, v5: given }
}
