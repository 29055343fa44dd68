import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { askedWaitMs, type Backoff, backoffMs, isRetryable, type Random } from '#lib/retry'
import { createLatency, type Latency } from './latency.ts'
import type { L1Metrics } from './metrics.ts'
import { outrun, type Racer, race } from './race.ts'

export type Ask<T> = (endpoint: Endpoint, signal: AbortSignal) => Promise<T>
/** Kind of a request, as far as response times depend on it. */
export type QuestionKind = 'head' | 'block' | 'blobs'

/** Pause of an endpoint after its first, second, … failure in a row. */
const rest: Backoff = { baseMs: 500, maxMs: 10_000, jitter: 0.5 }
/** Number of hedged requests in a row that an endpoint may lose before it is demoted. */
const maxOutrun = 3
/** Budget for hedged requests: the burst, and the part of a request that each request adds. */
const hedges = { burst: 3, perQuestion: 0.05 }
const slowDemotionMs = 60_000
const behindDemotionMs = 600_000
/** Faults that exclude an endpoint until the next start, because waiting does not help. */
const leavesOut: readonly string[] = ['L1_WRONG_CHAIN', 'L1_WRONG_BEACON']

export type FailoverDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<L1Metrics, 'hedges' | 'usable'>
  /** Returns whether a call can be sent to the endpoint now. Endpoints that would have to wait are queried last. */
  readonly hasBudget: (endpoint: Endpoint) => boolean
}

type Api = 'rpc' | 'beacon'

class Health {
  readonly endpoint: Endpoint
  failures = 0
  outrun = 0
  restsUntilMs = Number.NEGATIVE_INFINITY
  demotedUntilMs = Number.NEGATIVE_INFINITY
  fault: Fault | undefined
  leftOut: Fault | undefined
  readonly #latency = new Map<QuestionKind, Latency>()

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint
  }

  latency(kind: QuestionKind): Latency {
    const latency = this.#latency.get(kind) ?? createLatency()
    this.#latency.set(kind, latency)
    return latency
  }
}

/** Returns the fault with the time until the next attempt. */
function withWait(fault: Fault, retryAfterMs: number): Fault {
  return new Fault(fault.code, fault.severity, fault.message, fault.fix, { ...fault.data, retryAfterMs }, fault.cause)
}

/** Set of endpoints that serve the same data, in order of preference. */
export class Failover {
  readonly #deps: FailoverDeps
  readonly #api: Api
  readonly #all: readonly Health[]
  #hedgesLeft = hedges.burst

  constructor(deps: FailoverDeps, api: Api, endpoints: readonly Endpoint[]) {
    this.#deps = deps
    this.#api = api
    this.#all = endpoints.map((endpoint) => new Health(endpoint))
    this.#showUsable()
  }

  /** number of endpoints */
  get size(): number {
    return this.#all.length
  }

  /**
   * Queries endpoints in turn until one responds. An endpoint that failed is skipped for a while. While an endpoint is slow, a second one is queried
   * as well, within a budget.
   * @throws the Fault of the endpoint that is usable again first, when all have failed (its data has `retryAfterMs`); the Fault of an excluded
   *   endpoint, when all are excluded; any other error at once
   */
  async run<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T>): Promise<T> {
    const won = await this.#race(kind, signal, async (endpoint, stop) => ({ answer: await ask(endpoint, stop) }))
    if (won === undefined) throw this.#allFailed()
    return won.answer
  }

  /**
   * Same as `run`, but queries the next endpoint when one returns undefined.
   * @returns undefined only when every endpoint returned undefined
   */
  async find<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T | undefined>): Promise<T | undefined> {
    const lacking = new Set<Endpoint>()
    const found = await this.#race(kind, signal, async (endpoint, stop) => {
      const answer = await ask(endpoint, stop)
      if (answer === undefined) lacking.add(endpoint)
      return answer
    })
    const isKnownMissing = this.#all.every(({ endpoint, leftOut }) => leftOut !== undefined || lacking.has(endpoint)) && lacking.size > 0
    if (found === undefined && !isKnownMissing) throw this.#allFailed()
    return found
  }

  /**
   * Queries all endpoints at once. Their failures count as in `run`.
   * @throws the Fault of an excluded endpoint, when all are excluded
   */
  async each(signal: AbortSignal, ask: Ask<void>): Promise<void> {
    await Promise.all(this.#all.map((health) => this.#one(health, 'head', signal, ask)))
    signal.throwIfAborted()
    if (this.#all.length > 0 && this.#all.every(({ leftOut }) => leftOut !== undefined)) throw this.#allFailed()
  }

  /** Queries the endpoint after all others for a while, because it responds but is behind them. */
  demote(endpoint: Endpoint): void {
    const health = this.#all.find((one) => one.endpoint === endpoint)
    if (health === undefined) return
    health.demotedUntilMs = this.#deps.clock.elapsedMs() + behindDemotionMs
    this.#deps.log.warn('L1 endpoint behind others, demoted', { endpoint: endpoint.name })
  }

  #race<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T | undefined>): Promise<T | undefined> {
    this.#hedgesLeft = Math.min(hedges.burst, this.#hedgesLeft + hedges.perQuestion)
    const nowMs = this.#deps.clock.elapsedMs()
    const usable = this.#all.filter(({ restsUntilMs, leftOut }) => leftOut === undefined && restsUntilMs <= nowMs)
    const { hasBudget } = this.#deps
    const drawback = ({ endpoint, demotedUntilMs }: Health): number => (demotedUntilMs > nowMs ? 2 : 0) + (hasBudget(endpoint) ? 0 : 1)
    const inOrder = usable.map((health) => ({ health, rank: drawback(health) })).toSorted((a, b) => a.rank - b.rank)
    const racers = inOrder.map(({ health }): Racer<T> => {
      const hedgeMs = health.latency(kind).unusualMs
      return { hedgeMs, run: (stop) => this.#one(health, kind, stop, ask) }
    })
    return race({ clock: this.#deps.clock, mayHedge: () => this.#mayHedge() }, racers, signal)
  }

  #mayHedge(): boolean {
    const may = this.#hedgesLeft >= 1
    if (may) this.#hedgesLeft--
    this.#deps.metrics.hedges.inc({ api: this.#api, outcome: may ? 'asked' : 'spared' })
    return may
  }

  /** Returns the endpoint's response; undefined when it failed, was stopped or has no answer. Rejects with errors that are not the endpoint's. */
  async #one<T>(health: Health, kind: QuestionKind, stop: AbortSignal, ask: Ask<T>): Promise<T | undefined> {
    const { clock, log } = this.#deps
    const startedMs = clock.elapsedMs()
    try {
      const answer = await ask(health.endpoint, stop)
      health.latency(kind).add(clock.elapsedMs() - startedMs)
      if (health.failures > 0) log.info('L1 endpoint responds again', { endpoint: health.endpoint.name })
      health.failures = 0
      health.outrun = 0
      this.#showUsable()
      return answer
    } catch (error) {
      if (stop.aborted) {
        if (stop.reason === outrun) this.#outrun(health)
        return undefined
      }
      if (error instanceof Fault && leavesOut.includes(error.code)) this.#leaveOut(health, error)
      else if (isRetryable(error)) this.#failed(health, error)
      else throw error
      return undefined
    }
  }

  /** Demotes a slow endpoint for a while. Slow is not a failure. */
  #outrun(health: Health): void {
    health.outrun++
    if (health.outrun < maxOutrun) return
    health.outrun = maxOutrun - 1
    health.demotedUntilMs = this.#deps.clock.elapsedMs() + slowDemotionMs
    this.#deps.log.warn('L1 endpoint slower than others, demoted', { endpoint: health.endpoint.name })
  }

  #leaveOut(health: Health, fault: Fault): void {
    if (health.leftOut === undefined) {
      const { code, message, fix } = fault
      this.#deps.log.error('L1 endpoint excluded', { endpoint: health.endpoint.name, code, says: message, fix })
    }
    health.leftOut = fault
    this.#showUsable()
  }

  #failed(health: Health, fault: Fault): void {
    const { clock, random, log } = this.#deps
    health.fault = fault
    // of several concurrent requests that fail, only the first counts
    if (health.restsUntilMs > clock.elapsedMs()) return
    health.failures++
    const restMs = Math.max(backoffMs(rest, health.failures, random()), askedWaitMs(fault))
    health.restsUntilMs = clock.elapsedMs() + restMs
    this.#showUsable()
    log.warn('L1 endpoint failed, retrying', {
      endpoint: health.endpoint.name,
      code: fault.code,
      says: fault.message,
      fix: fault.fix,
      restMs,
    })
  }

  /**
   * Returns the fault to report when all endpoints failed: that of the endpoint that is usable again first, preferring endpoints without a success
   * since their fault.
   */
  #allFailed(): Fault {
    const { clock } = this.#deps
    const blamed = this.#all.filter(({ fault, leftOut }) => fault !== undefined && leftOut === undefined)
    const hasAnswered = ({ failures }: Health): number => (failures === 0 ? 1 : 0)
    const [first] = blamed.toSorted((a, b) => hasAnswered(a) - hasAnswered(b) || a.restsUntilMs - b.restsUntilMs)
    if (first?.fault !== undefined) return withWait(first.fault, Math.max(1, first.restsUntilMs - clock.elapsedMs()))
    const leftOut = this.#all.find((health) => health.leftOut !== undefined)?.leftOut
    if (leftOut === undefined) throw new RangeError(`no ${this.#api} endpoint is configured`)
    return leftOut
  }

  #showUsable(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    const usable = this.#all.filter(
      ({ failures, restsUntilMs, leftOut }) => leftOut === undefined && (failures === 0 || restsUntilMs <= nowMs),
    )
    this.#deps.metrics.usable.set({ api: this.#api }, usable.length)
  }
}
