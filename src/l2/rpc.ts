import type { Endpoint } from '#lib/endpoint'
import { type Fault, isFault } from '#lib/fault'
import { type JsonHttpDeps, type JsonHttpLimits, type JsonHttpOutcome, requestJson } from '#lib/jsonHttp'
import { answersInOrder, rpcRequest } from '#types/jsonRpc'
import { listOf, ShapeError } from '#types/jsonShape'
import { l2Fault } from './faults.ts'
import type { L2Metrics } from './metrics.ts'
import { resultOf, Slots } from './rpcResult.ts'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/** JSON-RPC 2.0 client of the followed node, over HTTP, with a bounded number of concurrent requests. */
export interface SourceRpc {
  /**
   * Returns the results of the calls, in their order, with one request where the endpoint accepts batches. An endpoint that refuses more than two calls
   * together is asked again with fewer by the caller.
   * @throws Fault SOURCE_UNREACHABLE, SOURCE_RATE_LIMITED, SOURCE_REFUSED, SOURCE_RPC_ERROR, SOURCE_BAD_ANSWER (all retry); the signal's reason
   */
  call(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]>
}

export type SourceRpcDeps = JsonHttpDeps & { readonly metrics: Pick<L2Metrics, 'requests'> }
export type SourceRpcLimits = JsonHttpLimits & {
  /** maximum number of concurrent requests */
  readonly maxConcurrent: number
}

/** Returns the fault for a failed request; undefined for an answer. */
function faultOf(endpoint: string, asked: string, outcome: JsonHttpOutcome): Fault | undefined {
  switch (outcome.kind) {
    case 'answer':
      return undefined
    case 'unreachable':
      return l2Fault('SOURCE_UNREACHABLE', { endpoint, asked, reason: outcome.reason })
    case 'rate-limited':
      return l2Fault('SOURCE_RATE_LIMITED', { endpoint, asked, retryAfterMs: outcome.retryAfterMs })
    case 'refused':
      return l2Fault('SOURCE_REFUSED', { endpoint, asked, status: outcome.status })
    case 'bad-answer':
      return l2Fault('SOURCE_BAD_ANSWER', { endpoint, asked, reason: outcome.reason })
  }
}

const outcomeLabels = {
  answer: 'ok',
  unreachable: 'unreachable',
  'rate-limited': 'rate_limited',
  refused: 'refused',
  'bad-answer': 'wrong_answer',
} as const

export function createSourceRpc(deps: SourceRpcDeps, limits: SourceRpcLimits, endpoint: Endpoint): SourceRpc {
  const slots = new Slots(limits.maxConcurrent)
  const { url, headers, name } = endpoint
  /** True after the endpoint refused a batch: each call is then a request. */
  let isSingle = false

  async function post(body: unknown, asked: string, signal: AbortSignal): Promise<unknown> {
    const outcome = await slots.run(() => requestJson(deps, limits, { url, headers, body }, signal), signal)
    deps.metrics.requests.inc({ outcome: outcomeLabels[outcome.kind] })
    const fault = faultOf(name, asked, outcome)
    if (outcome.kind !== 'answer') throw fault
    if (outcome.json === undefined) throw new ShapeError(`HTTP ${outcome.status}`)
    return outcome.json
  }

  async function each(calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    return await Promise.all(calls.map(async (call) => resultOf(name, call.method, await post(rpcRequest(call, 0), call.method, signal))))
  }

  async function batch(calls: readonly RpcCall[], asked: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const json = await post(calls.map(rpcRequest), asked, signal)
    if (Array.isArray(json)) {
      return answersInOrder(listOf(json, 'batch'), calls.length).map((answer, at) => resultOf(name, calls[at]?.method ?? asked, answer))
    }
    try {
      resultOf(name, asked, json) // a single answer to a batch: a rate limit, or the endpoint refuses batches
    } catch (error) {
      // fewer calls may fit; only a refusal of two shows that none do
      if (isFault(error, 'SOURCE_RATE_LIMITED') || calls.length > 2) throw error
    }
    const results = await each(calls, signal)
    isSingle = true // it was the batch that failed
    return results
  }

  return {
    async call(calls, signal): Promise<readonly unknown[]> {
      const asked = [...new Set(calls.map(({ method }) => method))].join(', ')
      try {
        return await (calls.length === 1 || isSingle ? each(calls, signal) : batch(calls, asked, signal))
      } catch (error) {
        if (error instanceof ShapeError) throw l2Fault('SOURCE_BAD_ANSWER', { endpoint: name, asked, reason: error.message })
        throw error
      }
    },
  }
}
