import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { askedWaitMs, type Backoff, backoffMs, isRetryable, type Random } from '#lib/retry'
import type { Endpoint } from './endpoint.ts'
import type { L1Metrics } from './metrics.ts'

/** Several endpoints that should know the same, best first. */
export interface Failover {
  /** how many endpoints there are */
  readonly size: number
  /**
   * Asks one endpoint after another until one answers. One that failed rests for a while and is passed over.
   * @throws the last Fault when all have failed (its data holds `retryAfterMs`); any other error at once
   */
  run<T>(signal: AbortSignal, ask: (endpoint: Endpoint) => Promise<T>): Promise<T>
  /**
   * The same, but undefined means that another endpoint may have it.
   * @returns undefined only when every endpoint has said so
   */
  find<T>(signal: AbortSignal, ask: (endpoint: Endpoint) => Promise<T | undefined>): Promise<T | undefined>
}

/** How long an endpoint rests after its first, second, … failure in a row. */
const rest: Backoff = { baseMs: 500, maxMs: 30_000, jitter: 0.5 }

export type FailoverDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<L1Metrics, 'requests'>
}

type Health = { readonly endpoint: Endpoint; failures: number; restsUntilMs: number; fault: Fault | undefined }

const outcomeOf = (fault: Fault): 'unreachable' | 'rate_limited' | 'wrong_answer' => {
  if (fault.code === 'L1_RATE_LIMITED') return 'rate_limited'
  return fault.code === 'L1_UNREACHABLE' ? 'unreachable' : 'wrong_answer'
}

/** The same fault, saying when the next try makes sense. */
function withWait(fault: Fault, retryAfterMs: number): Fault {
  return new Fault(fault.code, fault.severity, fault.message, fault.fix, { ...fault.data, retryAfterMs }, fault.cause)
}

export function createFailover(deps: FailoverDeps, api: 'rpc' | 'beacon', endpoints: readonly Endpoint[]): Failover {
  const { clock, random, log, metrics } = deps
  const all: readonly Health[] = endpoints.map((endpoint) => ({ endpoint, failures: 0, restsUntilMs: 0, fault: undefined }))

  function failed(health: Health, fault: Fault): void {
    metrics.requests.inc({ api, outcome: outcomeOf(fault) })
    health.fault = fault
    // of several questions that fail together only the first counts
    if (health.restsUntilMs > clock.nowMs()) return
    health.failures++
    const restMs = Math.max(backoffMs(rest, health.failures, random()), askedWaitMs(fault))
    health.restsUntilMs = clock.nowMs() + restMs
    log.warn('L1 endpoint failed', { endpoint: health.endpoint.name, code: fault.code, says: fault.message, fix: fault.fix, restMs })
  }

  /** Nobody could be asked or nobody answered: the fault of the one that is back first. */
  function allFailed(): Fault {
    const [first] = all.filter(({ fault }) => fault !== undefined).toSorted((a, b) => a.restsUntilMs - b.restsUntilMs)
    if (first?.fault === undefined) throw new RangeError(`no ${api} endpoint`)
    return withWait(first.fault, Math.max(1, first.restsUntilMs - clock.nowMs()))
  }

  type Outcome<T> = { readonly kind: 'answer'; readonly answer: T } | { readonly kind: 'failed' }

  async function one<T>(health: Health, signal: AbortSignal, ask: (endpoint: Endpoint) => Promise<T>): Promise<Outcome<T>> {
    if (health.restsUntilMs > clock.nowMs()) return { kind: 'failed' }
    try {
      const answer = await ask(health.endpoint)
      metrics.requests.inc({ api, outcome: 'ok' })
      if (health.failures > 0) log.info('L1 endpoint answers again', { endpoint: health.endpoint.name })
      health.failures = 0
      return { kind: 'answer', answer }
    } catch (error) {
      signal.throwIfAborted()
      if (!isRetryable(error)) throw error
      failed(health, error)
      return { kind: 'failed' }
    }
  }

  return {
    size: all.length,
    async run<T>(signal: AbortSignal, ask: (endpoint: Endpoint) => Promise<T>): Promise<T> {
      for (const health of all) {
        const outcome = await one(health, signal, ask)
        if (outcome.kind === 'answer') return outcome.answer
      }
      throw allFailed()
    },
    async find<T>(signal: AbortSignal, ask: (endpoint: Endpoint) => Promise<T | undefined>): Promise<T | undefined> {
      let failures = 0
      for (const health of all) {
        const outcome = await one(health, signal, ask)
        if (outcome.kind === 'failed') failures++
        else if (outcome.answer !== undefined) return outcome.answer
      }
      if (failures > 0) throw allFailed()
      return undefined
    },
  }
}
