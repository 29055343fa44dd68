import { forks } from '#chainspec/forks'
import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'
import { forwardStates } from '#rpc/submitPorts'
import { nodeFaults } from './faultTable.ts'
import { readinessReasons } from './health/readinessReasons.ts'
import { cacheNames } from './memory/cacheBudget.ts'

/** Fault codes that a running node can report; `other`: a code of no table. */
export const faultCodes: readonly string[] = [...new Set(nodeFaults.map(([code]) => code))].sort().concat('other')

/** Codes of the reasons of `/readyz`; `other`: a text without a code. */
export const reasonCodes: readonly string[] = readinessReasons.map(({ code }) => code).concat('other')

const lagQuantiles = { quantile: ['0.5', '0.99', '1'] } as const

export const nodeMetrics = defineMetrics({
  info: gauge('basalt_node_build_info', 'Always 1', { mode: ['all', 'execution', 'consensus'] }),
  start: gauge('basalt_node_start_seconds', 'Start of the process, as a Unix time'),
  unready: gauge('basalt_node_unready_state', '1: a reason why /readyz is 503; 0: not a reason now', { reason: reasonCodes }),
  faults: counter('basalt_faults_total', 'Logged faults by code', { code: faultCodes }),
  loopLag: gauge(
    'basalt_node_loop_lag_seconds',
    "Delay of the main thread's event loop in seconds, in the last 15 to 30 seconds",
    lagQuantiles,
  ),
  ages: gauge('basalt_node_head_age_seconds', 'Wall clock less the timestamp of the head', {
    head: ['l1', 'l1_derived', 'unsafe', 'safe', 'finalized'],
  }),
  stores: gauge('basalt_node_store_bytes', 'Size of the files of a store', { store: ['chain', 'consensus'] }),
  fork: gauge('basalt_node_fork_state', '1: the fork whose rules the head block follows; 0: another fork', { fork: forks }),
  diskFree: gauge('basalt_node_disk_free_bytes', 'Free space of the disk under the data directory'),
  memory: gauge('basalt_node_memory_bytes', 'Memory of the process', { kind: ['resident', 'anonymous', 'heap', 'external'] }),
})

/** Times until something happens at the rate of the last minutes or hours. */
export const forecastMetrics = defineMetrics({
  syncLeft: gauge(
    'basalt_node_sync_left_seconds',
    'Estimated seconds until the node has caught up, by the rate of the last ten minutes; 0: it has; +Inf: it makes no progress; NaN: not known yet',
  ),
  diskLeft: gauge(
    'basalt_node_disk_left_seconds',
    'Estimated seconds until the disk under the data directory falls to --db.min-free, by the use of the last day; +Inf: it does not fill; NaN: not known yet',
  ),
})

export const memoryMetrics = defineMetrics({
  limit: gauge('basalt_memory_limit_bytes', 'Bound of the anonymous memory of the process (--memory-max)'),
  level: gauge(
    'basalt_memory_pressure_state',
    '0: normal; 1: caches shrink and traces and range reads are refused; 2: calls are refused too',
  ),
})

/** Caches of a thread; a scrape sums all threads. */
export const cacheMetrics = defineMetrics({
  held: gauge('basalt_cache_held_bytes', 'Estimated memory of a cache in bytes', { cache: cacheNames }),
  limit: gauge('basalt_cache_limit_bytes', 'Bound of a cache in bytes: its part of --cache, less while memory is short', {
    cache: cacheNames,
  }),
  hits: counter('basalt_cache_hits_total', 'Reads of a cache that found an entry', { cache: cacheNames }),
  misses: counter('basalt_cache_misses_total', 'Reads of a cache that found none', { cache: cacheNames }),
})

/** Metrics of the threads that answer JSON-RPC, measured in the main thread. */
export const rpcThreadsMetrics = defineMetrics({
  threads: gauge('basalt_node_rpc_threads', 'Threads that answer JSON-RPC'),
  ends: counter('basalt_node_rpc_thread_ends_total', 'RPC threads that ended by themselves; each is replaced'),
  unmeasured: gauge('basalt_node_rpc_unmeasured_threads', 'RPC threads whose metrics in this scrape are of an earlier one'),
  readFailures: counter('basalt_node_rpc_metric_failures_total', 'Failed reads of the metrics of an RPC thread by reason', {
    why: ['late', 'failed'],
  }),
})

/** Metrics of one RPC thread; a scrape shows the largest value of all threads. */
export const rpcThreadMetrics = defineMetrics({
  loopLag: gauge(
    'basalt_node_rpc_loop_lag_seconds',
    "Delay of the slowest RPC thread's event loop in seconds, in the last 15 to 30 seconds",
    lagQuantiles,
  ),
})

/** Spans of `--trace.otlp`. */
export const traceMetrics = defineMetrics({
  spans: counter('basalt_trace_spans_total', 'Spans by outcome; dropped: the queue was full, rejected: the collector refused them', {
    outcome: ['exported', 'dropped', 'rejected'],
  }),
  queue: gauge('basalt_trace_queue_entries', 'Spans that wait for the collector'),
})

/** Fill of an anchored state. Without one the metrics are absent. */
export const fillMetrics = defineMetrics({
  ratio: gauge('basalt_state_fill_ratio', 'Part of the keys of the state that is stored: 1 when the state is whole and checked'),
  leaves: counter('basalt_state_fill_leaves_total', 'Leaves that the fill has stored since the start', { kind: ['account', 'slot'] }),
  bytes: counter('basalt_state_fill_read_bytes_total', 'Size of the answers to the fill since the start, about'),
  rate: gauge('basalt_state_fill_rate_entries', 'Accounts and slots that the fill stores in a second, in the last minute'),
  left: gauge(
    'basalt_state_fill_left_seconds',
    'Estimated seconds until the walk of the fill ends, by the rate of the last minutes; +Inf: it makes no progress; NaN: not known yet',
  ),
  phase: gauge('basalt_state_fill_info', '1 for the phase of the fill', { phase: ['walk', 'check', 'paused', 'off', 'whole'] }),
})

export const forwardMetrics = defineMetrics({
  transactions: gauge(
    'basalt_node_forwarded_transactions',
    'Recent transactions forwarded to the sequencer by state; taken: waits for a block, unanswered: the sequencer may have it',
    { state: forwardStates },
  ),
})
export type CacheMetrics = Handles<(typeof cacheMetrics)['specs']>
export type RpcThreadsMetrics = Handles<(typeof rpcThreadsMetrics)['specs']>
export type TraceMetrics = Handles<(typeof traceMetrics)['specs']>
export type ForwardMetrics = Handles<(typeof forwardMetrics)['specs']>
