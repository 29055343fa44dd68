import type { Clock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { type Fetch, type JsonHttpOutcome, requestJson } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import type { Forwarded, SequencerLink, TransactionPool } from '#rpc/poolPorts'

export type SequencerLinkDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly log: Log
  /** what the sequencer took is kept here too, so that the next nonce is known; absent: there is none */
  readonly pool: Pick<TransactionPool, 'add'> | undefined
}

/** An answer is a hash or an error: short. */
const limits = { timeoutMs: 8_000, maxBodyBytes: 100_000 }
const maxOnTheirWay = 256
/** Between two lines of one kind in the log. */
const quietMs = 10_000

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

/** A JSON-RPC response as it came; undefined when it is none. */
function responseOf(json: unknown): Forwarded | undefined {
  if (!isObject(json)) return undefined
  const { error, result } = json
  if (isObject(error)) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: never }
    if (typeof code !== 'number' || typeof message !== 'string') return undefined
    return { kind: 'error', code, message, ...(data !== undefined && { data }) }
  }
  return typeof result === 'string' ? { kind: 'result', result } : undefined
}

/**
 * Passes transactions on to the sequencer. Errors it answers with are answers; what becomes of a transaction whose request fails is not known,
 * so that none is sent twice.
 */
export function createSequencerLink({ fetch, clock, log, pool }: SequencerLinkDeps, url: string): SequencerLink {
  let onTheirWay = 0
  const spokenMs = new Map<string, number>()

  function warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    const now = clock.elapsedMs()
    if (now - (spokenMs.get(message) ?? Number.NEGATIVE_INFINITY) < quietMs) return
    spokenMs.set(message, now)
    log.warn(message, fields)
  }

  function answerOf(outcome: JsonHttpOutcome): Forwarded {
    if (outcome.kind === 'rate-limited') return { kind: 'error', code: -32016, message: 'over rate limit' }
    if (outcome.kind === 'answer') {
      const response = responseOf(outcome.json)
      if (response) return response
      warn('the sequencer answers with no JSON-RPC response', { status: outcome.status })
    } else {
      const why = outcome.kind === 'refused' ? `HTTP ${outcome.status}` : outcome.reason
      warn('the sequencer does not answer', { why })
    }
    return { kind: 'unanswered' }
  }

  async function keep(raw: Uint8Array): Promise<void> {
    try {
      const outcome = await pool?.add(raw)
      if (outcome?.kind === 'refused')
        warn('a transaction that the sequencer took is not kept in the pool here', { why: outcome.refusal.kind })
    } catch (error) {
      warn('a transaction that the sequencer took is not kept in the pool here', { error })
    }
  }

  return {
    async send(raw): Promise<Forwarded> {
      if (onTheirWay >= maxOnTheirWay) return { kind: 'busy' }
      onTheirWay++
      try {
        const body = `{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["${toHex(raw)}"]}`
        const answer = answerOf(await requestJson({ fetch, clock }, limits, { url, body }))
        if (answer.kind === 'result') await keep(raw)
        return answer
      } finally {
        onTheirWay--
      }
    },
  }
}
