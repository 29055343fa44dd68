import { counter, defineMetrics, histogram } from '#lib/metrics'

/** Of `answer`, what came back: an answer, an error of the other half, or none that can be used. */
export const engineOutcomes = ['ok', 'error', 'failed'] as const
export const engineCalls = ['newPayload', 'forkchoiceUpdated', 'getPayload', 'read'] as const
export type EngineCall = (typeof engineCalls)[number]

/** Upper bounds in seconds. */
const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

export const engineMetrics = defineMetrics({
  requests: counter('basalt_engine_requests_total', 'Requests to an execution half elsewhere', {
    call: engineCalls,
    outcome: engineOutcomes,
  }),
  seconds: histogram('basalt_engine_request_seconds', 'How long an execution half elsewhere took to answer', buckets, {
    call: engineCalls,
  }),
})
