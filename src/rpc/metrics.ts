import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const rpcMetrics = defineMetrics({
  sockets: gauge('basalt_rpc_socket_connections', 'WebSocket connections that are open'),
  socketEnds: counter('basalt_rpc_socket_ends_total', 'WebSocket connections that ended by why', {
    why: ['client', 'slow', 'silent', 'closing', 'failed'],
  }),
  socketRefusals: counter('basalt_rpc_socket_refusals_total', 'WebSocket connections refused by why', {
    why: ['host', 'origin', 'full', 'malformed'],
  }),
})
export type RpcMetrics = Handles<typeof rpcMetrics.specs>
