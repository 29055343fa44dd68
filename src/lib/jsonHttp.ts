import type { Clock } from './clock.ts'

export type Fetch = typeof fetch

/** Request as it is sent. */
export type SentRequest = {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly redirect: 'error'
  readonly signal: AbortSignal
}
/** The part of a `Response` that is read here. */
export type Received = Pick<Response, 'status' | 'ok'> & {
  readonly headers: Pick<Headers, 'get'>
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<unknown> }) | null
}
/** Function that sends a request, such as `fetch`. */
export type Send = (url: string, request: SentRequest) => Promise<Received>

export type JsonHttpDeps = { readonly fetch: Send; readonly clock: Clock }
export type JsonHttpLimits = {
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number
  readonly maxBodyBytes: number
}

export type JsonHttpRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** A value to post as JSON, or text that is JSON already; undefined sends a GET request. */
  readonly body?: unknown
}

/** Outcome of a request. No text in it is from the server, or quotes the URL or a header. */
export type JsonHttpOutcome =
  /** Status 2xx, or a 4xx that may carry an answer; `json` is undefined when a 4xx body is not JSON. */
  { readonly kind: 'answer'; readonly status: number; readonly json: unknown } | JsonHttpFailure

/** Outcome of a request without an answer. */
export type JsonHttpFailure =
  /** Connection failed, timed out, or status 5xx. A retry may succeed. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** Status 429 with the time to wait. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  /** Status 401 or 403. */
  | { readonly kind: 'refused'; readonly status: number }
  /** Response too large, or status 2xx without JSON. */
  | { readonly kind: 'bad-answer'; readonly reason: string }

/** Wait in ms after a 429 without a usable `Retry-After`, and the upper bound of the wait. */
const defaultRetryAfterMs = 5_000
const maxRetryAfterMs = 600_000

/**
 * Returns the wait in ms that `Retry-After` requests: seconds, or the time until a date. A date is compared with the `Date` header of the response
 * (the
 * server's clock), or with the local clock when that header is missing.
 * @see RFC 9110, section 10.2.3
 */
function retryAfterMs({ headers }: Received, nowMs: number): number {
  const text = headers.get('retry-after') ?? ''
  const sentMs = parseHttpDate(headers.get('date') ?? '') ?? nowMs
  const untilMs = parseHttpDate(text)
  const waitMs = untilMs === undefined ? Number(text === '' ? Number.NaN : text) * 1_000 : untilMs - sentMs
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : defaultRetryAfterMs
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Parses an HTTP date to milliseconds since 1970; undefined when the text is not one. */
export function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined
  // biome-ignore lint/style/noRestrictedGlobals: reads a text, not the clock
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

export type BodyRead = { readonly bytes: Uint8Array; readonly isWhole: boolean }

/** Reads the body of a response up to `maxBytes`. */
export async function readBody(response: Received, maxBytes: number): Promise<BodyRead> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), isWhole: false }
  }
  return { bytes: Buffer.concat(chunks), isWhole: true }
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')

function parse(bytes: Uint8Array): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(textOf(bytes)) }
  } catch {
    return undefined
  }
}

/** Returns an error code such as ECONNREFUSED, never a message that may quote the URL. */
function failureCode(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = (cause as { code?: unknown }).code
  if (typeof code === 'string') return code
  // a host name with several addresses that all failed
  if (cause instanceof AggregateError && cause.errors.length > 0) return failureCode(cause.errors[0])
  if (!(cause instanceof Error)) return 'connection failed'
  return cause.message === 'bad port' ? 'port blocked by fetch (bad port)' : cause.name
}

/** Returns the outcome that follows from the status alone, or undefined when the body must be read. */
async function outcomeOfStatus(response: Received, nowMs: number): Promise<JsonHttpOutcome | undefined> {
  const { status } = response
  const isRefused = status === 401 || status === 403
  if (!isRefused && status !== 429 && status < 500) return undefined
  await response.body?.cancel() // an unread body keeps its connection open
  if (isRefused) return { kind: 'refused', status }
  return status === 429
    ? { kind: 'rate-limited', retryAfterMs: retryAfterMs(response, nowMs) }
    : { kind: 'unreachable', reason: `HTTP ${status}` }
}

async function outcomeOf(response: Received, maxBodyBytes: number, nowMs: number): Promise<JsonHttpOutcome> {
  const early = await outcomeOfStatus(response, nowMs)
  if (early !== undefined) return early
  const { bytes, isWhole } = await readBody(response, maxBodyBytes)
  if (!isWhole) return { kind: 'bad-answer', reason: `more than ${maxBodyBytes} bytes` }
  const parsed = parse(bytes)
  if (response.ok && parsed === undefined) return { kind: 'bad-answer', reason: `${bytes.length} bytes that are not JSON` }
  return { kind: 'answer', status: response.status, json: parsed?.json }
}

function requestInit({ headers, body }: JsonHttpRequest, signal: AbortSignal): SentRequest {
  const isPost = body !== undefined
  return {
    method: isPost ? 'POST' : 'GET',
    headers: { ...headers, accept: 'application/json', ...(isPost && { 'content-type': 'application/json' }) },
    ...(isPost && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'error',
    signal,
  }
}

/** A connection that failed, or a request that timed out. */
export type Unreachable = { readonly kind: 'unreachable'; readonly reason: string }

/**
 * Sends one HTTP request, without retries and without following redirects.
 * @param read reads the response; it counts against the time limit
 * @returns its value, or why there is no response; the reason quotes neither the URL nor a header
 * @throws the signal's reason when it is aborted
 */
export async function exchange<T>(
  { fetch, clock }: JsonHttpDeps,
  timeoutMs: number,
  request: JsonHttpRequest,
  read: (response: Received) => Promise<T>,
  signal?: AbortSignal,
): Promise<T | Unreachable> {
  signal?.throwIfAborted()
  // Not AbortSignal.any: each call leaves a listener on a signal that lives as long as the process.
  const stop = new AbortController()
  const end = (): void => stop.abort(signal?.reason)
  signal?.addEventListener('abort', end, { once: true })
  let isLate = false
  using _timer = clock.after(timeoutMs, () => {
    isLate = true
    stop.abort()
  })
  try {
    return await read(await fetch(request.url, requestInit(request, stop.signal)))
  } catch (error) {
    signal?.throwIfAborted()
    return { kind: 'unreachable', reason: isLate ? `no answer within ${timeoutMs / 1_000} s` : failureCode(error) }
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

/**
 * Sends one HTTP request, without retries and without following redirects.
 * @returns an outcome for every server or network failure
 * @throws the signal's reason when it is aborted
 */
export function requestJson(
  deps: JsonHttpDeps,
  { timeoutMs, maxBodyBytes }: JsonHttpLimits,
  request: JsonHttpRequest,
  signal?: AbortSignal,
): Promise<JsonHttpOutcome> {
  return exchange(deps, timeoutMs, request, (response) => outcomeOf(response, maxBodyBytes, deps.clock.nowMs()), signal)
}

/** Returns why a request has no answer, without the URL. */
export function failureReason(outcome: JsonHttpFailure): string {
  switch (outcome.kind) {
    case 'refused':
      return `HTTP ${outcome.status}`
    case 'rate-limited':
      return 'HTTP 429'
    case 'unreachable':
    case 'bad-answer':
      return outcome.reason
  }
}
