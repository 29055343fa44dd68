import type { Clock } from '#lib/clock'
import { Fault } from '#lib/fault'
import type { Log } from '#lib/log'
import { askedWaitMs, type Backoff, backoffMs, isRetryable, type Random } from '#lib/retry'
import type { Endpoint } from './endpoint.ts'
import { createLatency, type Latency } from './latency.ts'
import type { L1Metrics } from './metrics.ts'
import { outrun, type Racer, race } from './race.ts'

export type Ask<T> = (endpoint: Endpoint, signal: AbortSignal) => Promise<T>
/** What is asked, as far as it decides how long an answer takes. */
export type QuestionKind = 'head' | 'block' | 'blobs'

/** Several endpoints that should know the same, best first. */
export interface Failover {
  /** how many endpoints there are */
  readonly size: number
  /**
   * Asks one endpoint after another until one answers. One that failed rests for a while and is passed over; while one is slow, another is
   * asked beside it, as long as that stays rare.
   * @throws the Fault of the endpoint that is back first, when all have failed (its data holds `retryAfterMs`), or that of one that is left
   * out, when all are; any other error at once
   */
  run<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T>): Promise<T>
  /**
   * The same, but undefined means that another endpoint may have it.
   * @returns undefined only when every endpoint has said so
   */
  find<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T | undefined>): Promise<T | undefined>
  /**
   * Asks all endpoints at once. What they do wrong counts as it does elsewhere.
   * @throws the Fault of one that is left out, when all are
   */
  each(signal: AbortSignal, ask: Ask<void>): Promise<void>
  /** For a while the endpoint is asked after all others: it answers, and is behind them. */
  demote(endpoint: Endpoint): void
}

/** How long an endpoint rests after its first, second, … failure in a row. */
const rest: Backoff = { baseMs: 500, maxMs: 10_000, jitter: 0.5 }
/** An endpoint that another one has outrun so many times in a row is asked last for a while. */
const maxOutrun = 3
/** Second questions beside a slow one: so many at once, and one more for every so many questions. */
const hedges = { burst: 3, perQuestion: 0.05 }
const slowDemotionMs = 60_000
const behindDemotionMs = 600_000
/** What an endpoint is left out for, until the next start: waiting does not make it right. */
const leavesOut: readonly string[] = ['L1_WRONG_CHAIN', 'L1_WRONG_BEACON']

export type FailoverDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<L1Metrics, 'hedges' | 'usable'>
  /** Whether a call could be sent to the endpoint now; those that have to wait are asked last. */
  readonly hasBudget: (endpoint: Endpoint) => boolean
}

type Api = 'rpc' | 'beacon'

/** What is known of one endpoint. */
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

/** The same fault, saying when the next try makes sense. */
function withWait(fault: Fault, retryAfterMs: number): Fault {
  return new Fault(fault.code, fault.severity, fault.message, fault.fix, { ...fault.data, retryAfterMs }, fault.cause)
}

export function createFailover(deps: FailoverDeps, api: Api, endpoints: readonly Endpoint[]): Failover {
  return new Endpoints(deps, api, endpoints)
}

class Endpoints implements Failover {
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

  get size(): number {
    return this.#all.length
  }

  async run<T>(kind: QuestionKind, signal: AbortSignal, ask: Ask<T>): Promise<T> {
    const won = await this.#race(kind, signal, async (endpoint, stop) => ({ answer: await ask(endpoint, stop) }))
    if (won === undefined) throw this.#allFailed()
    return won.answer
  }

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

  async each(signal: AbortSignal, ask: Ask<void>): Promise<void> {
    await Promise.all(this.#all.map((health) => this.#one(health, 'head', signal, ask)))
    signal.throwIfAborted()
    if (this.#all.length > 0 && this.#all.every(({ leftOut }) => leftOut !== undefined)) throw this.#allFailed()
  }

  demote(endpoint: Endpoint): void {
    const health = this.#all.find((one) => one.endpoint === endpoint)
    if (health === undefined) return
    health.demotedUntilMs = this.#deps.clock.elapsedMs() + behindDemotionMs
    this.#deps.log.warn('L1 endpoint is behind others', { endpoint: endpoint.name })
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

  /** The endpoint's answer; undefined when it failed, was stopped or has none. Rejects with what is no endpoint's failure. */
  async #one<T>(health: Health, kind: QuestionKind, stop: AbortSignal, ask: Ask<T>): Promise<T | undefined> {
    const { clock, log } = this.#deps
    const startedMs = clock.elapsedMs()
    try {
      const answer = await ask(health.endpoint, stop)
      health.latency(kind).add(clock.elapsedMs() - startedMs)
      if (health.failures > 0) log.info('L1 endpoint answers again', { endpoint: health.endpoint.name })
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

  /** Slow is no failure: it is asked after the others, and once more after a while. */
  #outrun(health: Health): void {
    health.outrun++
    if (health.outrun < maxOutrun) return
    health.outrun = maxOutrun - 1
    health.demotedUntilMs = this.#deps.clock.elapsedMs() + slowDemotionMs
    this.#deps.log.warn('L1 endpoint is slower than others', { endpoint: health.endpoint.name })
  }

  #leaveOut(health: Health, fault: Fault): void {
    if (health.leftOut === undefined) {
      const { code, message, fix } = fault
      this.#deps.log.error('L1 endpoint is left out', { endpoint: health.endpoint.name, code, says: message, fix })
    }
    health.leftOut = fault
    this.#showUsable()
  }

  #failed(health: Health, fault: Fault): void {
    const { clock, random, log } = this.#deps
    health.fault = fault
    // of several questions that fail together only the first counts
    if (health.restsUntilMs > clock.elapsedMs()) return
    health.failures++
    const restMs = Math.max(backoffMs(rest, health.failures, random()), askedWaitMs(fault))
    health.restsUntilMs = clock.elapsedMs() + restMs
    this.#showUsable()
    log.warn('L1 endpoint failed', { endpoint: health.endpoint.name, code: fault.code, says: fault.message, fix: fault.fix, restMs })
  }

  /** Nobody could be asked or nobody answered: the fault of the one that is back first; not of one that has answered since, if there is another. */
  #allFailed(): Fault {
    const { clock } = this.#deps
    const blamed = this.#all.filter(({ fault, leftOut }) => fault !== undefined && leftOut === undefined)
    const hasAnswered = ({ failures }: Health): number => (failures === 0 ? 1 : 0)
    const [first] = blamed.toSorted((a, b) => hasAnswered(a) - hasAnswered(b) || a.restsUntilMs - b.restsUntilMs)
    if (first?.fault !== undefined) return withWait(first.fault, Math.max(1, first.restsUntilMs - clock.elapsedMs()))
    const leftOut = this.#all.find((health) => health.leftOut !== undefined)?.leftOut
    if (leftOut === undefined) throw new RangeError(`no ${this.#api} endpoint`)
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
