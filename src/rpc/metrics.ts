import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const rpcMetrics = defineMetrics({
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
