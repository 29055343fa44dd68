import type { Clock } from '#lib/clock'
import { type Endpoint, endpointOf } from '#lib/endpoint'
import { exchange, parseHttpDate, type Received, readBody, type Send } from '#lib/jsonHttp'
import { type RpcAnswer, readRpcAnswer, rpcRequest } from '#types/jsonRpc'
import { ShapeError } from '#types/jsonShape'

export type ProbeDeps = {
  readonly fetch: Send
  readonly clock: Clock
  readonly signal: AbortSignal
  /** time of the clock (`elapsedMs`) at which every request has ended; absent: no bound for all together */
  readonly untilMs?: number
}

/** Answer of an endpoint to one request. No text in it is from the server. */
export type Probe =
  | { readonly kind: 'silent'; readonly reason: string }
  | {
      readonly kind: 'answer'
      readonly status: number
      /** undefined: no JSON */
      readonly json: unknown
      readonly tookMs: number
      /** clock of the server less that of this machine, by its Date header, which counts whole seconds; undefined: it sends none */
      readonly skewMs: number | undefined
    }

const timeoutMs = 4_000
const maxBodyBytes = 32_000_000

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

/** Sends a request: JSON by POST with a body, else GET. */
export async function probe(deps: ProbeDeps, endpoint: Endpoint, body?: unknown): Promise<Probe> {
  const { clock, untilMs = Number.POSITIVE_INFINITY } = deps
  const startMs = clock.elapsedMs()
  const limitMs = Math.min(timeoutMs, untilMs - startMs)
  if (limitMs <= 0) return { kind: 'silent', reason: 'not asked: earlier requests took all of the time' }
  const read = async (response: Received): Promise<Probe> => {
    const arrivedMs = clock.nowMs()
    const tookMs = clock.elapsedMs() - startMs
    const { bytes, isWhole } = await readBody(response, maxBodyBytes)
    const dateMs = parseHttpDate(response.headers.get('date') ?? '')
    // the header is a whole second: half a second later on average; the answer left the server half of the time ago
    const skewMs = dateMs === undefined ? undefined : dateMs + 500 - (arrivedMs - tookMs / 2)
    return { kind: 'answer', status: response.status, json: isWhole ? jsonOf(bytes) : undefined, tookMs, skewMs }
  }
  const outcome = await exchange(
    deps,
    limitMs,
    { url: endpoint.url, headers: endpoint.headers, ...(body !== undefined && { body }) },
    read,
    deps.signal,
  )
  return outcome.kind === 'unreachable' ? { kind: 'silent', reason: outcome.reason } : outcome
}

/** Answer to a call; `refused`: another status than 2xx. */
export type CallProbe =
  | { readonly kind: 'silent'; readonly reason: string }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'bad'; readonly reason: string }
  | (RpcAnswer & { readonly tookMs: number; readonly skewMs: number | undefined })

/** Sends one JSON-RPC call. */
export async function probeCall(deps: ProbeDeps, endpoint: Endpoint, method: string, params: readonly unknown[] = []): Promise<CallProbe> {
  const answer = await probe(deps, endpoint, rpcRequest({ method, params }, 1))
  if (answer.kind === 'silent') return answer
  const { status, json, tookMs, skewMs } = answer
  if (status >= 500 || status === 401 || status === 403 || status === 429) return { kind: 'refused', status }
  try {
    return { ...readRpcAnswer(json), tookMs, skewMs }
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return { kind: 'bad', reason: `HTTP ${status} without a JSON-RPC answer` }
  }
}

/** Returns the result of a call; undefined: there is none. */
export const resultOf = (answer: CallProbe): unknown => (answer.kind === 'result' ? answer.result : undefined)

/** Returns why a call has no result. */
export function refusalText(answer: CallProbe): string {
  switch (answer.kind) {
    case 'silent':
    case 'bad':
      return answer.reason
    case 'refused':
      return `HTTP ${answer.status}`
    case 'error':
      return `error ${answer.code}`
    case 'result':
      return 'null'
  }
}

/** Returns endpoints with names that differ: hosts, numbered when they repeat. A ws URL is probed by HTTP. */
export function endpointsOf(urls: readonly string[]): readonly Endpoint[] {
  const seen = new Map<string, number>()
  return urls.map((url) => {
    const endpoint = endpointOf(new URL(url.replace(/^ws/, 'http')))
    const count = (seen.get(endpoint.name) ?? 0) + 1
    seen.set(endpoint.name, count)
    return count === 1 ? endpoint : { ...endpoint, name: `${endpoint.name} #${count}` }
  })
}

const quantity = /^0x[0-9a-f]{1,13}$/i

/** Reads a quantity of a foreign answer; undefined: it is none. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'string' && quantity.test(value) ? Number(value) : undefined

/** Header fields of a block in a foreign answer. */
export type ProbedBlock = { readonly number: number; readonly hash: string; readonly timestamp: number; readonly hasBlobs: boolean }

export function blockOf(answer: CallProbe): ProbedBlock | undefined {
  const block = resultOf(answer)
  if (typeof block !== 'object' || block === null) return undefined
  const { number, hash, timestamp, blobGasUsed } = block as Record<string, unknown>
  const [height, time] = [numberOf(number), numberOf(timestamp)]
  if (height === undefined || time === undefined || typeof hash !== 'string') return undefined
  return { number: height, hash: hash.slice(0, 66).toLowerCase(), timestamp: time, hasBlobs: (numberOf(blobGasUsed) ?? 0) > 0 }
}

const hex = (value: number): string => `0x${value.toString(16)}`
export const probeBlock = async (deps: ProbeDeps, endpoint: Endpoint, label: number | string): Promise<CallProbe> =>
  await probeCall(deps, endpoint, 'eth_getBlockByNumber', [typeof label === 'number' ? hex(label) : label, false])
