import type { Fault } from '#lib/fault'
import { toQuantity } from '#lib/hex'
import type { Json } from './json.ts'

/** A JSON-RPC error that is returned to the client. A Fault of severity 'retry' becomes `unavailable`; any other error is logged and becomes −32603. */
export class RpcError extends Error {
  readonly code: number
  readonly data: Json | undefined

  constructor(code: number, message: string, data?: Json) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
  }
}

/** Codes and texts are those of Base's execution client. @see JSON-RPC 2.0, "Error object"; EIP-1474 */
export const parseError = (why?: string): RpcError => new RpcError(-32700, 'Parse error', why)
export const invalidRequest = (why?: string): RpcError => new RpcError(-32600, 'Invalid request', why)
export const methodNotFound = (): RpcError => new RpcError(-32601, 'Method not found')
/** A malformed parameter; the reason is in `data`. */
export const unreadableParams = (why: string): RpcError => new RpcError(-32602, 'Invalid params', why)
/** A well-formed parameter with an invalid meaning; the reason is the message. */
export const invalidParams = (why: string): RpcError => new RpcError(-32602, why)
export const internalError = (detail?: string): RpcError => new RpcError(-32603, 'Internal error', detail)
export const invalidInput = (why: string): RpcError => new RpcError(-32000, why)
export const transactionRejected = (why: string): RpcError => new RpcError(-32003, why)
export const unsupported = (what: string): RpcError => new RpcError(-32004, `not supported by this version: ${what}`)
/** @param instead the subscriptions and methods to use from Denim on */
export const flashblocksEnded = (kind: string, instead: string): RpcError =>
  new RpcError(-32004, `eth_subscribe ${kind}: flashblocks end with Denim, use ${instead}`)
/** @param limitMs time-out of the method's cost class, when that expired */
export const timedOut = (limitMs?: number): RpcError =>
  new RpcError(-32002, 'request timed out', limitMs === undefined ? undefined : { limit: 'time', ms: limitMs })
/** A dependency is temporarily unavailable; the client may retry. */
export const unavailable = ({ code, message }: Fault): RpcError => new RpcError(-32002, message, { code })
export const filterNotFound = (): RpcError => new RpcError(-32602, 'filter not found')
export const tooManyFilters = (): RpcError => new RpcError(-32005, 'too many filters: end some, or try again in five minutes')
/** @param maxBytes bound of all filters and subscriptions of a thread */
export const tooManyLogTerms = (maxBytes: number): RpcError =>
  new RpcError(-32005, 'too many filters and subscriptions, or addresses and topics in them', { limit: 'bytes', max: maxBytes })
/** @param oldest the oldest block with the data, if it is known, and the latest one */
export function prunedHistory(oldest?: {
  readonly what: 'state' | 'trie nodes'
  readonly number: number
  readonly latest?: number
}): RpcError {
  const message = 'pruned history unavailable'
  if (oldest === undefined) return new RpcError(4444, message)
  const { what, number, latest } = oldest
  const upTo = latest === undefined ? '' : `, the latest ${latest}`
  return new RpcError(4444, `${message}: the oldest block with ${what} is ${number}${upTo}`, {
    oldestBlock: toQuantity(number),
    ...(latest !== undefined && { latestBlock: toQuantity(latest) }),
  })
}

/** Whether the error is `prunedHistory`. */
export const isPruned = (error: unknown): boolean => error instanceof RpcError && error.code === 4444

/** @param block as requested: a number in hex, a tag, or `hash 0x…` */
export const blockNotFound = (block: string): RpcError => new RpcError(-32001, `block not found: ${block}`)

export const requestTooBig = (maxBytes: number): RpcError => new RpcError(-32007, 'Request is too big', `Exceeded max limit of ${maxBytes}`)
export const responseTooBig = (maxBytes: number): RpcError =>
  new RpcError(-32008, 'Response is too big', `Exceeded max limit of ${maxBytes}`)
/** @param limit name and value of the exceeded limit, and its cost class, if any */
export const serverBusy = (limit?: { readonly limit: string; readonly max: number; readonly class?: string }): RpcError =>
  new RpcError(-32009, 'Server is busy, try again later', limit)
export const overRateLimitCode = -32016
/** Code and text of Base's sequencer and public endpoints; over HTTP the status is 429 with Retry-After. */
export const overRateLimit = (data: { readonly retryAfterMs: number; readonly [key: string]: Json }): RpcError =>
  new RpcError(overRateLimitCode, 'over rate limit', data)
export const tooManySubscriptions = (max: number): RpcError =>
  new RpcError(-32006, 'Too many subscriptions on the connection', `Exceeded max limit of ${max}`)
export const subscriptionsTooBig = (maxBytes: number): RpcError =>
  new RpcError(-32006, 'Too many addresses and topics on the connection', `Exceeded max limit of ${maxBytes} bytes`)
export const batchTooLarge = (maxItems: number): RpcError =>
  new RpcError(-32010, 'The batch request was too large', `Exceeded max limit of ${maxItems}`)
