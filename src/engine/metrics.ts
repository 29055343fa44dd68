import { counter, defineMetrics, histogram } from '#lib/metrics'

/** Outcome of a request: a result, an error of the execution half, or no usable response. */
const engineOutcomes = ['ok', 'error', 'failed'] as const
export const engineCalls = ['newPayload', 'forkchoiceUpdated', 'getPayload', 'read'] as const
export type EngineCall = (typeof engineCalls)[number]

/** Upper bounds in seconds. */
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

export const engineMetrics = defineMetrics({
  requests: counter('basalt_engine_requests_total', 'Requests to an execution half in another process', {
    call: engineCalls,
    outcome: engineOutcomes,
  }),
  seconds: histogram('basalt_engine_request_seconds', 'Response time of an execution half in another process', buckets, {
    call: engineCalls,
  }),
})
