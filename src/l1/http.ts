import type { Clock } from '#lib/clock'
import { type Fault, isFault } from '#lib/fault'
import { type Endpoint, urlAt } from './endpoint.ts'
import { l1Fault } from './faults.ts'

export type Fetch = typeof fetch
export type HttpDeps = { readonly fetch: Fetch; readonly clock: Clock }
export type HttpLimits = { readonly timeoutMs: number; readonly maxBodyBytes: number }

export type HttpRequest = {
  /** after the endpoint's own path; may hold a query */
  readonly path: string
  /** JSON to post; undefined: GET */
  readonly body?: unknown
  /** what is asked, for messages: a method or a path without secrets */
  readonly asked: string
}

/** Status 200, or one of 4xx that may be an answer in itself; `json` is undefined when such an answer holds none. */
export type HttpAnswer = { readonly status: number; readonly json: unknown }

/** The wait when a limit says nothing of its length, and the longest one that is believed. */
const defaultRetryAfterMs = 5_000
const maxRetryAfterMs = 600_000

/** Seconds in `Retry-After`; a date is not read and counts as no number. */
function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1_000, maxRetryAfterMs) : defaultRetryAfterMs
}

/** undefined when the body is larger than allowed. */
async function readBody(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parse(bytes: Uint8Array): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) }
  } catch {
    return undefined
  }
}

/** A code such as ECONNREFUSED; never a text that might quote the URL. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = (cause as { code?: unknown }).code
  if (typeof code === 'string') return code
  return cause instanceof Error ? cause.name : 'connection failed'
}

/** What a status alone says; undefined: the body is worth reading. */
function faultOf(name: string, asked: string, response: Response): Fault | undefined {
  const { status } = response
  if (status === 429) return l1Fault('L1_RATE_LIMITED', { endpoint: name, asked, retryAfterMs: retryAfterMs(response) })
  if (status === 401 || status === 403) return l1Fault('L1_REFUSED', { endpoint: name, asked, status })
  return status >= 500 ? l1Fault('L1_UNREACHABLE', { endpoint: name, asked, reason: `HTTP ${status}` }) : undefined
}

async function read(endpoint: Endpoint, asked: string, response: Response, maxBodyBytes: number): Promise<HttpAnswer> {
  const { status } = response
  const fault = faultOf(endpoint.name, asked, response)
  if (fault !== undefined) {
    await response.body?.cancel() // what is not read keeps its connection
    throw fault
  }
  const bytes = await readBody(response, maxBodyBytes)
  const bad = (reason: string): Error => l1Fault('L1_BAD_ANSWER', { endpoint: endpoint.name, asked, reason })
  if (bytes === undefined) throw bad(`more than ${maxBodyBytes} bytes`)
  const parsed = parse(bytes)
  if (response.ok && parsed === undefined) throw bad(`${bytes.length} bytes that are no JSON`)
  return { status, json: parsed?.json }
}

/**
 * One request, without retry.
 * @throws Fault L1_UNREACHABLE (also when time is up), L1_RATE_LIMITED, L1_REFUSED, L1_BAD_ANSWER (all retry); the signal's reason
 */
export async function requestJson(
  { fetch, clock }: HttpDeps,
  { timeoutMs, maxBodyBytes }: HttpLimits,
  endpoint: Endpoint,
  { path, body, asked }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted()
  // by hand: each AbortSignal.any leaves something on a signal that lives as long as the process
  const stop = new AbortController()
  const end = (): void => stop.abort(signal.reason)
  signal.addEventListener('abort', end, { once: true })
  let isLate = false
  using _timer = clock.after(timeoutMs, () => {
    isLate = true
    stop.abort()
  })
  try {
    const response = await fetch(urlAt(endpoint, path), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...endpoint.headers, accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: stop.signal,
    })
    return await read(endpoint, asked, response, maxBodyBytes)
  } catch (error) {
    signal.throwIfAborted()
    if (isFault(error)) throw error
    const reason = isLate ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error)
    throw l1Fault('L1_UNREACHABLE', { endpoint: endpoint.name, asked, reason })
  } finally {
    signal.removeEventListener('abort', end)
  }
}
