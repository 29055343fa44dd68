import { endpointOf } from '#lib/endpoint'
import type { MetricValues } from '../../localNode/metricText.ts'
import { type NodeAddress, pageOf } from '../../localNode/nodeAddress.ts'
import {
  type CallAnswer,
  NodeClient,
  type NodeClientDeps,
  type Reached,
  type ReadyPage,
  readMetrics,
  readReady,
} from '../../localNode/nodeClient.ts'

const labels = ['latest', 'safe', 'finalized'] as const
const calls = [
  ...['eth_chainId', 'web3_clientVersion', 'eth_syncing', 'net_peerCount', 'debug_proofsSyncStatus'].map((method) => ({
    method,
    params: [],
  })),
  ...labels.map((label) => ({ method: 'eth_getBlockByNumber', params: [label, false] })),
]

/** Answers of a node about its state. Each part may be missing: JSON-RPC and metrics are different ports, and of two halves one has no JSON-RPC. */
export type Readings = {
  readonly nowMs: number
  /** by method; blocks by label */
  readonly rpc: Reached<Readonly<Record<string, CallAnswer>>>
  readonly metrics: Reached<MetricValues>
  readonly ready: Reached<ReadyPage>
  /** rollup config of a consensus half, which has no JSON-RPC of the chain; undefined: not read */
  readonly rollupConfig: unknown
}

/** Returns the first page that is reached, else the failure of the first endpoint. */
async function firstReached<E, T>(endpoints: readonly E[], read: (endpoint: E) => Promise<Reached<T>>): Promise<Reached<T>> {
  let failure: Reached<T> | undefined
  for (const endpoint of endpoints) {
    const page = await read(endpoint)
    if (page.kind === 'reached') return page
    failure ??= page
  }
  return failure ?? { kind: 'silent', reason: 'no address' }
}

async function readRpc(deps: NodeClientDeps, address: NodeAddress): Promise<Readings['rpc']> {
  const answers = await new NodeClient(deps, address.rpc).batch(calls)
  if (answers.kind === 'silent') return answers
  const named = answers.value.map((answer, at) => [String(calls[at]?.params[0] ?? calls[at]?.method), answer] as const)
  return { kind: 'reached', value: Object.fromEntries(named) }
}

/** Reads the rollup config at the first page whose port serves the rollup RPC. */
async function readRollupConfig(deps: NodeClientDeps, { pages }: NodeAddress): Promise<unknown> {
  for (const page of pages) {
    const rollup = new NodeClient(deps, endpointOf(new URL('/', page)))
    const answers = await rollup.batch([{ method: 'optimism_rollupConfig', params: [] }])
    const [answer] = answers.kind === 'reached' ? answers.value : []
    if (answer?.kind === 'result') return answer.result
  }
  return undefined
}

/** Reads every part at once. */
export async function readNode(deps: NodeClientDeps, address: NodeAddress): Promise<Readings> {
  const rpcPage = new URL(address.rpc.url)
  const [rpc, metrics, ready] = await Promise.all([
    readRpc(deps, address),
    firstReached(address.pages, (page) => readMetrics(deps, pageOf(page, '/metrics'))),
    firstReached([...address.pages, rpcPage], (page) => readReady(deps, pageOf(page, '/readyz'))),
  ])
  const rollupConfig = rpc.kind === 'silent' && metrics.kind === 'reached' ? await readRollupConfig(deps, address) : undefined
  return { nowMs: deps.clock.nowMs(), rpc, metrics, ready, rollupConfig }
}
