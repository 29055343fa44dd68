import type { Endpoint } from '#lib/endpoint'
import { isFault } from '#lib/fault'
import { answersInOrder, readRpcAnswer, rpcRequest } from '#types/jsonRpc'
import { listOf, ShapeError } from '#types/jsonShape'
import type { Budget } from './budget.ts'
import { l1Fault } from './faults.ts'
import { type HttpAnswer, type HttpDeps, type HttpLimits, requestJson } from './http.ts'
import type { L1Method } from './metrics.ts'
import { outcomeOf, type Usage } from './usage.ts'

export type RpcCall = { readonly method: L1Method; readonly params: readonly unknown[] }
export type RpcDeps = HttpDeps & { readonly usage: Usage; readonly budgetOf: (endpoint: Endpoint) => Budget }

/** JSON-RPC 2.0 client over HTTP for several endpoints. */
export interface Rpc {
  /**
   * Returns the results of the calls, in their order, with one request per 20 calls where the endpoint accepts batches. Waits until the endpoint's
   * budget allows the calls.
   * @throws Fault L1_RPC_ERROR and those of `requestJson` (all retry)
   */
  call(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]>
}

const limitPattern = /rate.?limit|too many requests|quota|capacity|limit exceeded|throttl/i
const limitCodes: readonly number[] = [-32_005, -32_029, 429]
/** Wait after a limit reported as a JSON-RPC error, which has no `Retry-After`. */
const limitWaitMs = 2_000
/** Error messages by which clients report an unknown block, as opposed to an unknown method. */
const unknownBlock = /unknown block|(?:block|header)\b.* not (?:found|available)|not found.* block/i
/** Maximum number of calls in a batch. Providers refuse larger batches. */
const maxBatch = 20

/** Returns whether an error of an endpoint means that it does not know the block. */
export const meansUnknownBlock = (code: number, message: string): boolean => code !== -32_601 && unknownBlock.test(message)

function resultOf(endpoint: Endpoint, asked: string, value: unknown): unknown {
  const answer = readRpcAnswer(value)
  if (answer.kind === 'result') return answer.result
  const { code, message } = answer
  if (limitCodes.includes(code) || limitPattern.test(message)) {
    throw l1Fault('L1_RATE_LIMITED', { endpoint: endpoint.name, asked, retryAfterMs: limitWaitMs })
  }
  throw l1Fault('L1_RPC_ERROR', { endpoint: endpoint.name, asked, code, isUnknownBlock: meansUnknownBlock(code, message) })
}

/** Throws L1_RATE_LIMITED when the single answer to a batch reports a limit. Any other single answer means that the endpoint refuses batches. */
function refuseLimit(endpoint: Endpoint, asked: string, json: unknown): void {
  try {
    resultOf(endpoint, asked, json)
  } catch (error) {
    if (isFault(error, 'L1_RATE_LIMITED')) throw error
  }
}

export function createRpc(deps: RpcDeps, limits: HttpLimits): Rpc {
  const { usage, budgetOf } = deps
  /** Endpoints that refused a batch. They get one request per call. */
  const single = new Set<string>()

  /** Sends one request. Each of its calls is counted, whatever the outcome. */
  async function post(endpoint: Endpoint, calls: readonly RpcCall[], body: unknown, signal: AbortSignal): Promise<HttpAnswer> {
    const asked = askedBy(calls)
    await budgetOf(endpoint).take(calls.length, signal)
    try {
      return await requestJson(deps, limits, endpoint, { path: '', body, asked }, signal)
    } catch (error) {
      // an aborted request was sent and counts too
      for (const { method } of calls) usage.count('rpc', method, outcomeOf(error) ?? 'unreachable')
      throw error
    }
  }

  function counted(endpoint: Endpoint, { method }: RpcCall, answer: unknown): unknown {
    try {
      const result = resultOf(endpoint, method, answer)
      usage.count('rpc', method, 'ok')
      return result
    } catch (error) {
      usage.count('rpc', method, outcomeOf(error) ?? 'wrong_answer')
      throw error
    }
  }

  async function one(endpoint: Endpoint, call: RpcCall, signal: AbortSignal): Promise<unknown> {
    const { status, json } = await post(endpoint, [call], rpcRequest(call, 0), signal)
    if (json !== undefined) return counted(endpoint, call, json)
    usage.count('rpc', call.method, 'wrong_answer')
    throw new ShapeError(`HTTP ${status}`)
  }

  async function each(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const results: unknown[] = []
    for (const call of calls) results.push(await one(endpoint, call, signal))
    return results
  }

  async function batch(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const { json } = await post(endpoint, calls, calls.map(rpcRequest), signal)
    if (Array.isArray(json)) {
      const answers = answersInOrder(listOf(json, 'batch'), calls.length)
      return calls.map((call, i) => counted(endpoint, call, answers[i]))
    }
    for (const { method } of calls) usage.count('rpc', method, 'wrong_answer')
    refuseLimit(endpoint, askedBy(calls), json)
    single.add(endpoint.name)
    return each(endpoint, calls, signal)
  }

  async function all(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    if (calls.length === 1 || single.has(endpoint.name)) return each(endpoint, calls, signal)
    const results: unknown[] = []
    for (let at = 0; at < calls.length; at += maxBatch) results.push(...(await batch(endpoint, calls.slice(at, at + maxBatch), signal)))
    return results
  }

  return {
    async call(endpoint, calls, signal): Promise<readonly unknown[]> {
      try {
        return await all(endpoint, calls, signal)
      } catch (error) {
        if (!(error instanceof ShapeError)) throw error
        throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked: askedBy(calls), reason: error.message })
      }
    },
  }
}

const askedBy = (calls: readonly RpcCall[]): string => calls.map(({ method }) => method).join(', ')
