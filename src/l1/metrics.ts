import { counter, defineMetrics, type Handles } from '#lib/metrics'

export const l1Metrics = defineMetrics({
  requests: counter('basalt_l1_requests_total', 'Questions to L1 endpoints by outcome', {
    api: ['rpc', 'beacon'],
    outcome: ['ok', 'unreachable', 'rate_limited', 'wrong_answer'],
  }),
  readAhead: counter('basalt_l1_blocks_total', 'L1 blocks handed to derivation by where they came from', {
    from: ['read_ahead', 'cache', 'endpoint'],
  }),
})
export type L1Metrics = Handles<typeof l1Metrics.specs>
