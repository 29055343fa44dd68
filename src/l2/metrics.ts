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

/** Most sources. Metrics name them by their place in `--source.state`. */
export const maxSources = 8
const source = ['1', '2', '3', '4', '5', '6', '7', '8'] as const
export type SourceLabel = (typeof source)[number]

export const stateSourceMetrics = defineMetrics({
  requests: counter('basalt_state_source_requests_total', 'Requests to sources of state by outcome; a batch is one request', {
    outcome: ['ok', 'unreachable', 'rate_limited', 'refused', 'wrong_answer'],
  }),
  lies: counter('basalt_state_source_lies_total', 'Answers with a wrong proof or value, by the place of the source in --source.state', {
    source,
  }),
  usable: gauge('basalt_state_source_usable_peers', 'Sources of state that are not paused after a failure and have sent no wrong proof'),
  fetches: counter('basalt_state_source_fetches_total', 'Parts of the state that execution or a reader lacked, by how they were fetched', {
    way: ['witness', 'proof', 'failed'],
  }),
  blocks: counter(
    'basalt_state_source_blocks_total',
    'Blocks executed on a partial state, by what was not stored when they were executed: nothing, what their witness has, other parts',
    {
      lacked: ['nothing', 'witness', 'parts'],
    },
  ),
  hedges: counter('basalt_state_source_hedges_total', 'Requests to a second source while the first one was slow'),
})
export type StateSourceMetrics = Handles<typeof stateSourceMetrics.specs>
