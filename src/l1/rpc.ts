import { isFault } from '#lib/fault'
import { listOf, objectOf, ShapeError } from '#types/jsonShape'
import { type Endpoint, withoutSecrets } from './endpoint.ts'
import { l1Fault } from './faults.ts'
import { type HttpAnswer, type HttpDeps, type HttpLimits, requestJson } from './http.ts'

export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

/** JSON-RPC 2.0 over HTTP to one endpoint. */
export interface Rpc {
  /**
   * The results of the calls, in their order; one request where the endpoint takes batches.
   * @throws Fault L1_RPC_ERROR and those of `requestJson` (all retry)
   */
  call(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]>
}

const limitPattern = /rate.?limit|too many requests|quota|capacity|limit exceeded|throttl/i
const limitCodes: readonly number[] = [-32_005, -32_029, 429]
/** The wait after a limit that came as a JSON-RPC error: those do not say how long. */
const limitWaitMs = 2_000

function resultOf(endpoint: Endpoint, asked: string, value: unknown): unknown {
  const answer = objectOf(value, 'answer')
  const { error, result } = answer as { error?: unknown; result?: unknown }
  if (error == null) {
    if (result === undefined) throw new ShapeError('neither result nor error')
    return result
  }
  const { code, message } = objectOf(error, 'error') as { code?: unknown; message?: unknown }
  const says = typeof message === 'string' ? withoutSecrets(endpoint, message).slice(0, 200) : ''
  if (limitCodes.includes(Number(code)) || limitPattern.test(says)) {
    throw l1Fault('L1_RATE_LIMITED', { endpoint: endpoint.name, asked, retryAfterMs: limitWaitMs })
  }
  throw l1Fault('L1_RPC_ERROR', { endpoint: endpoint.name, asked, code: Number(code), message: says })
}

/** Throws L1_RATE_LIMITED when the one answer to a whole batch says so; anything else refuses batches. */
function refuseLimit(endpoint: Endpoint, asked: string, json: unknown): void {
  try {
    resultOf(endpoint, asked, json)
  } catch (error) {
    if (isFault(error, 'L1_RATE_LIMITED')) throw error
  }
}

/** Answers of a batch in the order of the ids 0, 1, …; they may come in any order. */
function inOrder(answers: readonly unknown[], count: number): readonly unknown[] {
  const byId = new Map(answers.map((answer) => [objectOf(answer, 'answer')['id'], answer]))
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id)
    if (answer === undefined) throw new ShapeError(`no answer to call ${id} of the batch`)
    return answer
  })
}

export function createRpc(deps: HttpDeps, limits: HttpLimits): Rpc {
  /** Endpoints that refused a batch: they are asked call by call. */
  const single = new Set<string>()
  const post = (endpoint: Endpoint, body: unknown, asked: string, signal: AbortSignal): Promise<HttpAnswer> =>
    requestJson(deps, limits, endpoint, { path: '', body, asked }, signal)
  const encode = ({ method, params }: RpcCall, id: number): unknown => ({ jsonrpc: '2.0', id, method, params })

  async function one(endpoint: Endpoint, call: RpcCall, signal: AbortSignal): Promise<unknown> {
    const { status, json } = await post(endpoint, encode(call, 0), call.method, signal)
    if (json === undefined) throw new ShapeError(`HTTP ${status}`)
    return resultOf(endpoint, call.method, json)
  }

  async function each(endpoint: Endpoint, calls: readonly RpcCall[], signal: AbortSignal): Promise<readonly unknown[]> {
    const results: unknown[] = []
    for (const call of calls) results.push(await one(endpoint, call, signal))
    return results
  }

  async function batch(endpoint: Endpoint, calls: readonly RpcCall[], asked: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const { json } = await post(endpoint, calls.map(encode), asked, signal)
    if (!Array.isArray(json)) {
      refuseLimit(endpoint, asked, json)
      single.add(endpoint.name)
      return each(endpoint, calls, signal)
    }
    return inOrder(listOf(json, 'batch'), calls.length).map((answer, i) => resultOf(endpoint, calls[i]?.method ?? asked, answer))
  }

  return {
    async call(endpoint, calls, signal): Promise<readonly unknown[]> {
      const asked = calls.map(({ method }) => method).join(', ')
      try {
        if (calls.length === 1 || single.has(endpoint.name)) return await each(endpoint, calls, signal)
        return await batch(endpoint, calls, asked, signal)
      } catch (error) {
        if (error instanceof ShapeError) throw l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked, reason: error.message })
        throw error
      }
    },
  }
}
