import type { Clock } from './clock.ts'

export type Fetch = typeof fetch
export type JsonHttpDeps = { readonly fetch: Fetch; readonly clock: Clock }
export type JsonHttpLimits = {
  /** from the first byte sent to the last one read */
  readonly timeoutMs: number
  readonly maxBodyBytes: number
}

export type JsonHttpRequest = {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON to post, or a text that is JSON already; undefined: GET */
  readonly body?: unknown
}

/** What became of a request. No text in it quotes the URL or a header, save `says`, which is the server's own. */
export type JsonHttpOutcome =
  /** Status 2xx, or one of 4xx that may be an answer in itself; `json` is undefined when such an answer holds none. */
  | { readonly kind: 'answer'; readonly status: number; readonly json: unknown }
  /** No connection, time is up, or 5xx: another try may help. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** 429, and how long to wait. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  /** 401 or 403; `says`: the answer's text when it is short */
  | { readonly kind: 'refused'; readonly status: number; readonly says: string }
  /** Too large, or 2xx without JSON. */
  | { readonly kind: 'bad-answer'; readonly reason: string }

/** The wait when a limit says nothing of its length, and the longest one that is believed. */
const defaultRetryAfterMs = 5_000
const maxRetryAfterMs = 600_000
/** of a refusal's text, in bytes */
const maxSaid = 200

/**
 * How long `Retry-After` asks to wait: seconds, or until a date, which is held against the date of the answer where there is one (the server's
 * clock), else against ours.
 * @see RFC 9110, section 10.2.3
 */
function retryAfterMs({ headers }: Response, nowMs: number): number {
  const text = headers.get('retry-after') ?? ''
  const sentMs = parseHttpDate(headers.get('date') ?? '') ?? nowMs
  const untilMs = parseHttpDate(text)
  const waitMs = untilMs === undefined ? Number(text === '' ? Number.NaN : text) * 1_000 : untilMs - sentMs
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : defaultRetryAfterMs
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Milliseconds since 1970 of a date as HTTP writes it; undefined when it is none. */
function parseHttpDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined
  // biome-ignore lint/style/noRestrictedGlobals: reads a text, not the clock
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

type Read = { readonly bytes: Uint8Array; readonly isWhole: boolean }

/** As much of the body as allowed. */
async function readBody(response: Response, maxBytes: number): Promise<Read> {
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

/** A code such as ECONNREFUSED; never a text that might quote the URL. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code = (cause as { code?: unknown }).code
  if (typeof code === 'string') return code
  // a name with several addresses, none of which answers
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0])
  if (!(cause instanceof Error)) return 'connection failed'
  return cause.message === 'bad port' ? 'a port that no request may go to (bad port)' : cause.name
}

/** The text of a refusal, when it announces a short one. */
async function saidBy(response: Response): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? 0)
  if (length > 0 && length <= maxSaid) return textOf((await readBody(response, maxSaid)).bytes).trim()
  await response.body?.cancel() // what is not read keeps its connection
  return ''
}

/** What a status alone says; undefined: the body is worth reading. */
async function outcomeOfStatus(response: Response, nowMs: number): Promise<JsonHttpOutcome | undefined> {
  const { status } = response
  if (status === 401 || status === 403) return { kind: 'refused', status, says: await saidBy(response) }
  if (status !== 429 && status < 500) return undefined
  await response.body?.cancel()
  return status === 429
    ? { kind: 'rate-limited', retryAfterMs: retryAfterMs(response, nowMs) }
    : { kind: 'unreachable', reason: `HTTP ${status}` }
}

async function outcomeOf(response: Response, maxBodyBytes: number, nowMs: number): Promise<JsonHttpOutcome> {
  const early = await outcomeOfStatus(response, nowMs)
  if (early !== undefined) return early
  const { bytes, isWhole } = await readBody(response, maxBodyBytes)
  if (!isWhole) return { kind: 'bad-answer', reason: `more than ${maxBodyBytes} bytes` }
  const parsed = parse(bytes)
  if (response.ok && parsed === undefined) return { kind: 'bad-answer', reason: `${bytes.length} bytes that are no JSON` }
  return { kind: 'answer', status: response.status, json: parsed?.json }
}

function requestInit({ headers, body }: JsonHttpRequest, signal: AbortSignal): RequestInit {
  const isPost = body !== undefined
  return {
    method: isPost ? 'POST' : 'GET',
    headers: { ...headers, accept: 'application/json', ...(isPost && { 'content-type': 'application/json' }) },
    ...(isPost && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    redirect: 'error',
    signal,
  }
}

/**
 * One request, without retry and without redirects.
 * @returns an outcome, whatever the server or the network does
 * @throws the signal's reason when it is aborted
 */
export async function requestJson(
  { fetch, clock }: JsonHttpDeps,
  { timeoutMs, maxBodyBytes }: JsonHttpLimits,
  request: JsonHttpRequest,
  signal?: AbortSignal,
): Promise<JsonHttpOutcome> {
  signal?.throwIfAborted()
  // by hand: each AbortSignal.any leaves something on a signal that lives as long as the process
  const stop = new AbortController()
  const end = (): void => stop.abort(signal?.reason)
  signal?.addEventListener('abort', end, { once: true })
  let isLate = false
  using _timer = clock.after(timeoutMs, () => {
    isLate = true
    stop.abort()
  })
  try {
    return await outcomeOf(await fetch(request.url, requestInit(request, stop.signal)), maxBodyBytes, clock.nowMs())
  } catch (error) {
    signal?.throwIfAborted()
    return { kind: 'unreachable', reason: isLate ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error) }
  } finally {
    signal?.removeEventListener('abort', end)
  }
}
