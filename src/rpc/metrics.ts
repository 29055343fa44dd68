import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const rpcMetrics = defineMetrics({
  sockets: gauge('basalt_rpc_socket_connections', 'WebSocket connections that are open'),
  socketEnds: counter('basalt_rpc_socket_ends_total', 'WebSocket connections that ended by why', {
    why: ['client', 'slow', 'silent', 'rate', 'closing', 'failed', 'greedy', 'evicted'],
  }),
  socketRefusals: counter('basalt_rpc_socket_refusals_total', 'WebSocket connections refused by why', {
    why: ['host', 'origin', 'full', 'malformed'],
  }),
  limitHits: counter('basalt_rpc_limit_hits_total', 'Calls refused or cut short by the limit that was met', {
    limit: ['rate', 'queue', 'time', 'bytes'],
  }),
  evictions: counter('basalt_rpc_evictions_total', 'Idle connections ended because others needed their places', {
    over: ['http', 'websocket'],
  }),
  unreadEnds: counter(
    'basalt_rpc_unread_ends_total',
    'Connections ended because they held most when the unread answers of a server together were beyond their bound',
    { over: ['http', 'websocket'] },
  ),
})
export type RpcMetrics = Handles<typeof rpcMetrics.specs>
