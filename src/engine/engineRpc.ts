import type { Clock } from '#lib/clock'
import { type Fetch, type JsonHttpOutcome, requestJson } from '#lib/jsonHttp'
import { signJwt } from '#lib/jwt'
import type { Handles } from '#lib/metrics'
import { engineFault } from './faults.ts'
import type { EngineCall, engineMetrics } from './metrics.ts'

export type EngineRpcDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly metrics?: Handles<typeof engineMetrics.specs>
}

export type EngineRpcOptions = {
  readonly url: string
  /** 32 bytes; called for each request, so that the file can be replaced */
  readonly jwtSecret: () => Uint8Array
  /** time-out of a read; a call that may execute a block has `executionFactor` times as long */
  readonly timeoutMs: number
  /** aborts calls without a signal of their own when the node stops */
  readonly stop?: AbortSignal
}

export type RpcOutcome =
  | { readonly kind: 'result'; readonly result: unknown }
  /** `message` is remote text: for comparisons, never for a fault */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

/** JSON-RPC client of an execution half; each request has a token of its own. */
export interface EngineRpc {
  /** host and port, for messages */
  readonly endpoint: string
  /**
   * Sends a call.
   * @throws Fault ENGINE_UNREACHABLE, ENGINE_UNAUTHORIZED, ENGINE_BAD_ANSWER, ENGINE_METHOD_MISSING (retry); the signal's reason
   */
  call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<RpcOutcome>
}

const executionFactor = 6
/** @see JSON-RPC 2.0, "Error object" */
const methodNotFound = -32601
/** Method that older execution halves lack. */
const optionalMethod = 'engine_exchangeCapabilities'
/** Limit of a response: larger than a block with 2^30 gas of calldata. */
const maxAnswerBytes = 160_000_000
const maxMessageLength = 500

function callOf(method: string): EngineCall {
  const name = /^engine_(newPayload|forkchoiceUpdated|getPayload)V\d$/.exec(method)?.[1]
  return (name as EngineCall | undefined) ?? 'read'
}

/** Decodes a JSON-RPC response; undefined when it is malformed. */
function outcomeOf(json: unknown): RpcOutcome | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { result, error } = json as { result?: unknown; error?: unknown }
  if (error === undefined || error === null) return result === undefined ? undefined : { kind: 'result', result }
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code !== 'number' || typeof message !== 'string') return undefined
  return { kind: 'error', code, message: message.slice(0, maxMessageLength) }
}

export function createEngineRpc(
  { fetch, clock, metrics }: EngineRpcDeps,
  { url, jwtSecret, timeoutMs, stop }: EngineRpcOptions,
): EngineRpc {
  const endpoint = new URL(url).host
  let lastId = 0

  function answered(asked: string, outcome: JsonHttpOutcome): RpcOutcome {
    const at = { endpoint, asked }
    switch (outcome.kind) {
      case 'unreachable':
        throw engineFault('ENGINE_UNREACHABLE', { ...at, reason: outcome.reason })
      case 'rate-limited':
        throw engineFault('ENGINE_UNREACHABLE', { ...at, reason: 'HTTP 429', retryAfterMs: outcome.retryAfterMs })
      case 'refused':
        throw engineFault('ENGINE_UNAUTHORIZED', { ...at, status: outcome.status })
      case 'bad-answer':
        throw engineFault('ENGINE_BAD_ANSWER', { ...at, reason: outcome.reason })
      case 'answer': {
        const found = outcomeOf(outcome.json)
        if (found === undefined) throw engineFault('ENGINE_BAD_ANSWER', { ...at, reason: `HTTP ${outcome.status} without result or error` })
        if (found.kind === 'error' && found.code === methodNotFound && asked !== optionalMethod) {
          throw engineFault('ENGINE_METHOD_MISSING', at)
        }
        return found
      }
    }
  }

  return {
    endpoint,
    async call(method, params, signal): Promise<RpcOutcome> {
      const call = callOf(method)
      const startMs = clock.elapsedMs()
      const headers = { authorization: `Bearer ${signJwt(jwtSecret(), Math.floor(clock.nowMs() / 1_000))}` }
      const limits = { timeoutMs: call === 'read' ? timeoutMs : timeoutMs * executionFactor, maxBodyBytes: maxAnswerBytes }
      const body = { jsonrpc: '2.0', id: ++lastId, method, params }
      let outcome: 'ok' | 'error' | 'failed' = 'failed'
      try {
        const answer = answered(method, await requestJson({ fetch, clock }, limits, { url, headers, body }, signal ?? stop))
        outcome = answer.kind === 'result' ? 'ok' : 'error'
        return answer
      } finally {
        metrics?.requests.inc({ call, outcome })
        metrics?.seconds.observe({ call }, (clock.elapsedMs() - startMs) / 1_000)
      }
    },
  }
}
