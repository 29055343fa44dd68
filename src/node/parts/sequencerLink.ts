import type { Clock } from '#lib/clock'
import { type Endpoint, endpointOf } from '#lib/endpoint'
import { toHex } from '#lib/hex'
import { type Fetch, failureReason, type JsonHttpOutcome, requestJson } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, type Random } from '#lib/retry'
import type { Json } from '#rpc/json'
import type { HeadBlock, HeadFeed } from '#rpc/ports'
import type { Forwarded, ForwardState, SequencerLink, SequencerStatus } from '#rpc/submitPorts'
import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import type { TransactionPool } from '#types/transactionPool'
import { TransactionStates } from './transactionStates.ts'

export type SequencerLinkDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** keeps transactions without a condition that the sequencer took, so that the next nonce is known; absent: there is no pool */
  readonly pool: Pick<TransactionPool, 'add'> | undefined
  /** shows which forwarded transactions are in blocks; absent: that is not known */
  readonly heads?: HeadFeed | undefined
  /** Called for each change with the number of recent transactions in a state. */
  readonly onCount?: ((state: ForwardState, transactions: number) => void) | undefined
}

/** Maximum bytes of an answer, which is a hash or an error. */
const maxBodyBytes = 100_000
/** time for one transaction, all attempts together, and for a status call */
const [sendBudgetMs, askTimeoutMs] = [8_000, 4_000]
const backoff: Backoff = { baseMs: 200, maxMs: 2_000, jitter: 0.5 }
/** Least time that is left for an attempt. */
const leastTryMs = 500
/** Longest wait of a transaction for a sequencer that requested a pause. */
const longestPauseMs = 1_500
const maxOnTheirWay = 256
/** Interval between two log lines with the same message. */
const quietMs = 10_000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

type Response = Extract<Forwarded, { kind: 'result' | 'error' }>

/** Parses a JSON-RPC response; undefined when it is malformed. */
function responseOf(
  json: unknown,
): { readonly kind: 'result'; readonly result: unknown } | Extract<Response, { kind: 'error' }> | undefined {
  if (!isObject(json)) return undefined
  const { error, result } = json
  if (isObject(error)) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: Json }
    if (typeof code !== 'number' || typeof message !== 'string') return undefined
    return { kind: 'error', code, message, ...(data !== undefined && { data }) }
  }
  return { kind: 'result', result }
}

/** Parses the response to a transaction: its hash or an error. */
function hashOrError(json: unknown): Response | undefined {
  const response = responseOf(json)
  if (response?.kind !== 'result') return response
  return typeof response.result === 'string' ? { kind: 'result', result: response.result } : undefined
}

const request = (method: string, params: readonly Json[]): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

function sendRequest(raw: Uint8Array, condition: Json | undefined): string {
  const hex = toHex(raw)
  if (condition === undefined) return request('eth_sendRawTransaction', [hex])
  return request('eth_sendRawTransactionConditional', [hex, condition])
}

/**
 * Forwards transactions to the sequencer. Its answers are final, including errors. When the request fails (no connection, 5xx), sends the transaction
 * again for eight seconds; the sequencer ignores a repeated transaction.
 */
class Link implements SequencerLink, Disposable {
  readonly #deps: SequencerLinkDeps
  readonly #endpoint: Pick<Endpoint, 'url' | 'headers'>
  readonly #states: TransactionStates
  readonly #feed: Disposable | undefined
  readonly #spokenMs = new Map<string, number>()
  #onTheirWay = 0
  /** end of the pause that the sequencer requested, monotonic */
  #pausedUntilMs = 0

  constructor(deps: SequencerLinkDeps, url: string) {
    this.#deps = deps
    this.#endpoint = endpointOf(new URL(url))
    this.#states = new TransactionStates(deps)
    this.#feed = deps.heads?.subscribe((blocks) => this.#lookFor(blocks))
  }

  async send(raw: Uint8Array, condition?: Json): Promise<Forwarded> {
    if (this.#onTheirWay >= maxOnTheirWay) return { kind: 'busy' }
    this.#onTheirWay++
    const hash = hashTransaction(raw)
    try {
      const answer = await this.#deliver(raw, hash, condition)
      this.#settle(hash, answer)
      // the pool keeps no conditions, and would hold the transaction after the sequencer has dropped it
      if (answer.kind === 'result' && condition === undefined) await this.#keep(raw)
      return answer
    } finally {
      this.#onTheirWay--
    }
  }

  async forwarded(hash: Hash): ReturnType<SequencerLink['forwarded']> {
    return this.#states.get(hash)
  }

  async status(hash: Hash): Promise<SequencerStatus> {
    if (this.#onTheirWay >= maxOnTheirWay) return { kind: 'failed', reason: 'too many unanswered requests' }
    if (this.#pausedUntilMs > this.#deps.clock.elapsedMs()) return { kind: 'failed', reason: 'over rate limit' }
    this.#onTheirWay++
    try {
      return await this.#askStatus(hash)
    } finally {
      this.#onTheirWay--
    }
  }

  async #askStatus(hash: Hash): Promise<SequencerStatus> {
    const outcome = await this.#post(request('base_transactionStatus', [hash]), askTimeoutMs)
    const response = outcome.kind === 'answer' ? responseOf(outcome.json) : undefined
    if (response?.kind === 'error') return { kind: 'failed', reason: response.message }
    const status = isObject(response?.result) ? response.result['status'] : undefined
    return typeof status === 'string' ? { kind: 'status', status } : { kind: 'failed', reason: badAnswerReason(outcome) }
  }

  [Symbol.dispose](): void {
    this.#feed?.[Symbol.dispose]()
  }

  async #deliver(raw: Uint8Array, hash: Hash, condition: Json | undefined): Promise<Forwarded> {
    const { clock, random } = this.#deps
    const body = sendRequest(raw, condition)
    const untilMs = clock.elapsedMs() + sendBudgetMs
    for (let failures = 0; ; ) {
      const limited = await this.#waitOutPause(untilMs)
      if (limited) return limited
      this.#states.sending(hash)
      const outcome = await this.#post(body, untilMs - clock.elapsedMs())
      if (outcome.kind === 'rate-limited') continue
      const response = outcome.kind === 'answer' ? hashOrError(outcome.json) : undefined
      // the lost response may have accepted the transaction
      if (response) return failures > 0 && isKnown(response) ? { kind: 'result', result: hash } : response
      this.#warn('sequencer does not answer', { why: badAnswerReason(outcome) })
      if (outcome.kind !== 'unreachable') return { kind: 'unanswered' }
      const waitMs = backoffMs(backoff, ++failures, random())
      if (clock.elapsedMs() + waitMs + leastTryMs > untilMs) return { kind: 'unanswered' }
      await clock.delay(waitMs)
    }
  }

  /** @returns the answer when the pause is too long to wait for */
  async #waitOutPause(untilMs: number): Promise<Forwarded | undefined> {
    const { clock } = this.#deps
    const pauseMs = this.#pausedUntilMs - clock.elapsedMs()
    if (pauseMs <= 0) return undefined
    const isTooLong = pauseMs > longestPauseMs || this.#pausedUntilMs + leastTryMs > untilMs
    if (isTooLong) return { kind: 'limited', retryAfterMs: Math.ceil(pauseMs) }
    await clock.delay(pauseMs)
    return undefined
  }

  async #post(body: string, timeoutMs: number): Promise<JsonHttpOutcome> {
    const outcome = await requestJson(this.#deps, { timeoutMs, maxBodyBytes }, { ...this.#endpoint, body })
    if (outcome.kind === 'rate-limited') this.#pausedUntilMs = this.#deps.clock.elapsedMs() + outcome.retryAfterMs
    return outcome
  }

  #settle(hash: Hash, answer: Forwarded): void {
    if (answer.kind === 'result') this.#states.settle(hash, 'taken')
    else if (answer.kind === 'error') this.#states.settle(hash, 'refused', { code: answer.code, message: answer.message.slice(0, 200) })
    else if (answer.kind !== 'busy') this.#states.settle(hash, answer.kind)
  }

  #lookFor(blocks: readonly HeadBlock[]): void {
    for (const { block } of blocks) {
      if (this.#states.taken === 0) return
      for (const raw of block.transactions) this.#states.included(hashTransaction(raw))
    }
  }

  async #keep(raw: Uint8Array): Promise<void> {
    const message = 'transaction taken by the sequencer not kept in the local pool'
    try {
      const outcome = await this.#deps.pool?.add(raw)
      if (outcome?.kind === 'refused') this.#warn(message, { why: outcome.refusal.kind })
    } catch (error) {
      this.#warn(message, { error })
    }
  }

  #warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    const now = this.#deps.clock.elapsedMs()
    if (now - (this.#spokenMs.get(message) ?? Number.NEGATIVE_INFINITY) < quietMs) return
    this.#spokenMs.set(message, now)
    this.#deps.log.warn(message, fields)
  }
}

const isKnown = (response: Response): boolean => response.kind === 'error' && /already known/i.test(response.message)

/** Returns why there is no JSON-RPC response, without the URL. */
const badAnswerReason = (outcome: JsonHttpOutcome): string =>
  outcome.kind === 'answer' ? `HTTP ${outcome.status} with no JSON-RPC response` : failureReason(outcome)

/** Creates the link to a sequencer. Disposing ends its subscription to heads. */
export function createSequencerLink(deps: SequencerLinkDeps, url: string): SequencerLink & Disposable {
  return new Link(deps, url)
}
