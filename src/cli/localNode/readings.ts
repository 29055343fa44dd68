import { endpointOf } from '#lib/endpoint'
import type { Reached, Readings } from '#monitor/readings'
import { cliFault } from '../faults.ts'
import { type NodeAddress, pageOf } from './nodeAddress.ts'
import { NodeClient, type NodeClientDeps, readMetrics, readReady } from './nodeClient.ts'

const labels = ['latest', 'safe', 'finalized'] as const
const calls = [
  ...['eth_chainId', 'web3_clientVersion', 'eth_syncing', 'net_peerCount', 'debug_proofsSyncStatus'].map((method) => ({
    method,
    params: [],
  })),
  ...labels.map((label) => ({ method: 'eth_getBlockByNumber', params: [label, false] })),
]

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
  return { nowMs: deps.clock.nowMs(), elapsedMs: deps.clock.elapsedMs(), rpc, metrics, ready, rollupConfig }
}

/** @throws Fault NODE_SILENT (fatal) when no part of the node has answered */
export function checkReached({ rpc, metrics, ready }: Readings, address: NodeAddress): void {
  if (rpc.kind !== 'silent' || metrics.kind !== 'silent' || ready.kind !== 'silent') return
  const hosts = [...new Set([address.rpc.name, ...address.pages.map((page) => page.host)])]
  throw cliFault('NODE_SILENT', { name: hosts.join(', '), reason: rpc.reason })
}
