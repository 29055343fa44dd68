import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const l2Metrics = defineMetrics({
  requests: counter('basalt_l2_source_requests_total', 'Requests to the followed node by outcome; a batch is one request', {
    outcome: ['ok', 'unreachable', 'rate_limited', 'refused', 'wrong_answer'],
  }),
  blocks: counter('basalt_l2_source_blocks_total', 'Blocks fetched from the followed node by outcome', {
    outcome: ['ok', 'wrong'],
  }),
  heads: counter('basalt_l2_source_heads_total', "Heads received from the followed node's newHeads subscription"),
  socket: gauge('basalt_l2_source_socket_state', "State of the followed node's newHeads subscription: 1 active, 0 the head is polled"),
})
export type L2Metrics = Handles<typeof l2Metrics.specs>
