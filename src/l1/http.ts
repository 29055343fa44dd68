import type { Endpoint } from '#lib/endpoint'
import { type JsonHttpDeps, type JsonHttpLimits, requestJson as request } from '#lib/jsonHttp'
import { urlAt } from './endpoint.ts'
import { l1Fault } from './faults.ts'

export type HttpDeps = JsonHttpDeps
export type HttpLimits = JsonHttpLimits

export type HttpRequest = {
  /** path below the endpoint's own; may contain a query */
  readonly path: string
  /** JSON to post; undefined: GET */
  readonly body?: unknown
  /** description of the request for messages: a method, or a path without secrets */
  readonly asked: string
}

/** Response with status 200, or with a status of 4xx that is an answer in itself. `json` is undefined when a 4xx response has no JSON. */
export type HttpAnswer = { readonly status: number; readonly json: unknown }

/**
 * Sends one request, without retry.
 * @throws Fault L1_UNREACHABLE (also on time-out), L1_RATE_LIMITED, L1_REFUSED, L1_BAD_ANSWER (all retry); the signal's reason
 */
export async function requestJson(
  deps: HttpDeps,
  limits: HttpLimits,
  endpoint: Endpoint,
  { path, body, asked }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { headers, name } = endpoint
  const outcome = await request(deps, limits, { url: urlAt(endpoint, path), headers, body }, signal)
  const at = { endpoint: name, asked }
  switch (outcome.kind) {
    case 'answer':
      return outcome
    case 'unreachable':
      throw l1Fault('L1_UNREACHABLE', { ...at, reason: outcome.reason })
    case 'rate-limited':
      throw l1Fault('L1_RATE_LIMITED', { ...at, retryAfterMs: outcome.retryAfterMs })
    case 'refused':
      throw l1Fault('L1_REFUSED', { ...at, status: outcome.status })
    case 'bad-answer':
      throw l1Fault('L1_BAD_ANSWER', { ...at, reason: outcome.reason })
  }
}
