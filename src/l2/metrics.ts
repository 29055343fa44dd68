import { counter, defineMetrics, gauge, type Handles } from '#lib/metrics'

export const l2Metrics = defineMetrics({
  requests: counter('basalt_l2_source_requests_total', 'Requests to the node that is followed by outcome; a batch is one', {
    outcome: ['ok', 'unreachable', 'rate_limited', 'refused', 'wrong_answer'],
  }),
  blocks: counter('basalt_l2_source_blocks_total', 'Blocks fetched from the node that is followed, by what came of them', {
    outcome: ['ok', 'wrong'],
  }),
  heads: counter('basalt_l2_source_heads_total', 'Heads that the node that is followed told of by itself'),
  socket: gauge('basalt_l2_source_socket_state', 'Whether the node that is followed tells of heads by WebSocket: 1, or is polled: 0'),
})
export type L2Metrics = Handles<typeof l2Metrics.specs>
