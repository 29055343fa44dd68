import { counter, counterCells, defineMetrics, gauge, type Handles, histogram } from '#lib/metrics'
import { adminRegistry, engineRegistry, socketRegistry } from './methods.ts'
import { type CostClass, costClasses } from './registry.ts'

const classes = Object.keys(costClasses) as readonly CostClass[]
const names = new Set([socketRegistry, engineRegistry, adminRegistry].flatMap((registry) => [...registry.keys()]))
const methods = [...names].sort().concat('other')
/** Returns the label of a method; `other`: a server has added it to those of the node. */
export const methodLabel = (name: string): string => (names.has(name) ? name : 'other')

const callBuckets = [0.0001, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export const rpcMetrics = defineMetrics({
  calls: histogram(
    'basalt_rpc_call_seconds',
    'Time of calls by cost class of the method, from the parsed request to the encoded answer, waits and refusals included',
    callBuckets,
    { class: classes },
  ),
  methodCalls: counterCells('basalt_rpc_method_calls_total', 'Answered calls by method; a method appears with its first call', {
    method: methods,
    outcome: ['result', 'error'],
  }),
  methodMilliseconds: counterCells('basalt_rpc_method_milliseconds_total', 'Time of these calls, as basalt_rpc_call_seconds', {
    method: methods,
  }),
  sockets: gauge('basalt_rpc_socket_connections', 'Open WebSocket connections'),
  socketEnds: counter('basalt_rpc_socket_ends_total', 'Ended WebSocket connections by reason', {
    why: ['client', 'slow', 'silent', 'rate', 'closing', 'failed', 'greedy', 'evicted'],
  }),
  socketRefusals: counter('basalt_rpc_socket_refusals_total', 'Refused WebSocket connections by reason', {
    why: ['host', 'origin', 'full', 'malformed'],
  }),
  limitHits: counter('basalt_rpc_limit_hits_total', 'Calls refused or aborted by limit', {
    limit: ['rate', 'queue', 'time', 'bytes', 'memory'],
  }),
  evictions: counter('basalt_rpc_evictions_total', 'Idle connections ended to make room for others', {
    over: ['http', 'websocket'],
  }),
  unreadEnds: counter(
    'basalt_rpc_unread_ends_total',
    "Connections ended because they held most of a server's unread answers when these exceeded their bound",
    { over: ['http', 'websocket'] },
  ),
})
export type RpcMetrics = Handles<typeof rpcMetrics.specs>

/** Metrics of the calls that one server answers. */
export type CallMetrics = Pick<RpcMetrics, 'limitHits' | 'calls' | 'methodCalls' | 'methodMilliseconds'>
