import type { MetricValues } from './metricText.ts'
import { type Rates, ratesBetween } from './rates.ts'
import type { Readings } from './readings.ts'
import { type StatusFacts, statusFacts } from './statusFacts.ts'

/** Current values of a node's gauges. null: the node does not report it. */
export type Levels = {
  readonly uncommittedBlocks: number | null
  readonly journalBytes: number | null
  readonly runningSec: number | null
  readonly poolPending: number | null
  readonly poolQueued: number | null
  readonly rpcThreads: number | null
  readonly sockets: number | null
  readonly loopLagP99Sec: number | null
  readonly rpcLoopLagP99Sec: number | null
  /** by API: calls per new L1 block over ten minutes, the measure of an endpoint's quota */
  readonly l1PerBlock: Readonly<Record<string, number>>
  /** by API: endpoints that are neither paused nor excluded */
  readonly l1Usable: Readonly<Record<string, number>>
  /** connections by client; of execution peers by version of eth */
  readonly peers: Readonly<Record<string, number>>
  readonly meshPeers: number | null
  readonly lastGossipSec: number | null
  readonly memory: Readonly<Record<string, number>>
  /** 0 normal, 1 caches shrink, 2 calls are refused */
  readonly memoryPressure: number | null
  /** by cache: held bytes, and the bound */
  readonly caches: Readonly<Record<string, { readonly heldBytes: number; readonly limitBytes: number }>>
}

/** State of a node at one moment, and its rates since the sample before. */
export type NodeSample = {
  readonly timeMs: number
  readonly status: StatusFacts
  /** null: there are no metrics, or no sample before */
  readonly rates: Rates | null
  readonly levels: Levels | null
}

/** Sums the series of a gauge by the value of a label. @param prefix of the keys */
function byLabel(metrics: MetricValues, name: string, label: string, prefix = ''): Readonly<Record<string, number>> {
  const values: Record<string, number> = {}
  for (const { labels, value } of metrics.series(name)) {
    const key = labels[label]
    if (key !== undefined) values[prefix + key] = (values[prefix + key] ?? 0) + value
  }
  return values
}

function levelsOf(metrics: MetricValues): Levels {
  const value = (name: string, labels?: Readonly<Record<string, string>>): number | null => metrics.value(name, labels) ?? null
  const limits = byLabel(metrics, 'basalt_cache_limit_bytes', 'cache')
  const held = Object.entries(byLabel(metrics, 'basalt_cache_held_bytes', 'cache'))
  return {
    uncommittedBlocks: value('basalt_execution_uncommitted_blocks'),
    journalBytes: value('basalt_execution_journal_bytes'),
    runningSec: value('basalt_execution_running_seconds'),
    poolPending: value('basalt_pool_pending_transactions'),
    poolQueued: value('basalt_pool_queued_transactions'),
    rpcThreads: value('basalt_node_rpc_threads'),
    sockets: value('basalt_rpc_socket_connections'),
    loopLagP99Sec: value('basalt_node_loop_lag_seconds', { quantile: '0.99' }),
    rpcLoopLagP99Sec: value('basalt_node_rpc_loop_lag_seconds', { quantile: '0.99' }),
    l1PerBlock: byLabel(metrics, 'basalt_l1_requests_per_block_ratio', 'api'),
    l1Usable: byLabel(metrics, 'basalt_l1_usable_peers', 'api'),
    peers: {
      ...byLabel(metrics, 'basalt_p2p_peer_connections', 'client'),
      ...byLabel(metrics, 'basalt_execution_p2p_peer_connections', 'version', 'eth/'),
    },
    meshPeers: value('basalt_p2p_mesh_connections'),
    lastGossipSec: value('basalt_p2p_last_block_seconds'),
    memory: byLabel(metrics, 'basalt_node_memory_bytes', 'kind'),
    memoryPressure: value('basalt_memory_pressure_state'),
    caches: Object.fromEntries(held.map(([name, heldBytes]) => [name, { heldBytes, limitBytes: limits[name] ?? 0 }])),
  }
}

/** Returns the sample of a node's answers. @param before the answers of the sample before; absent: there are no rates */
export function sampleOf(readings: Readings, before?: Readings): NodeSample {
  const { metrics, nowMs, elapsedMs } = readings
  const scrapeBefore = before?.metrics.kind === 'reached' ? { metrics: before.metrics.value, atMs: before.elapsedMs } : undefined
  const isReached = metrics.kind === 'reached'
  return {
    timeMs: nowMs,
    status: statusFacts(readings),
    rates: isReached && scrapeBefore ? ratesBetween(scrapeBefore, { metrics: metrics.value, atMs: elapsedMs }) : null,
    levels: isReached ? levelsOf(metrics.value) : null,
  }
}
