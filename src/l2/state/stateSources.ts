import { race } from '#l1/race'
import type { Clock } from '#lib/clock'
import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import { Fault, isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import type { JsonHttpDeps } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { Lru } from '#lib/lru'
import { askedWaitMs } from '#lib/retry'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest, StateSource } from '#state/stateSource'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import { ShapeError } from '#types/jsonShape'
import { stateSourceFault } from '../faults.ts'
import { maxSources, type SourceLabel, type StateSourceMetrics } from '../metrics.ts'
import { createSourceRpc, type SourceRpc } from '../rpc.ts'
import { codeHashOf, proofQuestion, type Question, rangeQuestion, WrongProof, witnessQuestion } from './provedAnswers.ts'
import { ResponseTimes, SourceHealth } from './sourceHealth.ts'

export type StateSourcesDeps = JsonHttpDeps & { readonly clock: Clock; readonly log: Log; readonly metrics: StateSourceMetrics }

export type StateSourcesOptions = {
  /** HTTP URLs of nodes of the chain, best first */
  readonly urls: readonly string[]
  /** limit of one request, and of all requests for a part */
  readonly timeoutMs?: number
  readonly deadlineMs?: number
}

/** Limits of responses: a batch of proofs with a code, and a witness of a large block as hex. */
const [proofBytes, witnessBytes] = [4 * 2 ** 20, 64 * 2 ** 20]
const maxConcurrent = 8
/** Bound of the addresses of codes. */
const knownAddressBytes = 4 * 2 ** 20
const addressBytes = 200

/** Pause between two rounds in which every source was asked. */
const roundMs = 250
const methodNotFound = -32_601

type Way = 'witness' | 'proof'

class Source {
  readonly endpoint: Endpoint
  readonly label: SourceLabel
  readonly health = new SourceHealth()
  readonly times: Readonly<Record<Way, ResponseTimes>> = { witness: new ResponseTimes(), proof: new ResponseTimes() }
  readonly #rpcs: Readonly<Record<Way, SourceRpc>>
  /** methods that the source does not have */
  readonly #lacks = new Set<string>()

  constructor(deps: StateSourcesDeps, endpoint: Endpoint, label: SourceLabel, timeoutMs: number) {
    this.endpoint = endpoint
    this.label = label
    this.#rpcs = {
      proof: createSourceRpc(deps, { timeoutMs, maxBodyBytes: proofBytes, maxConcurrent }, endpoint),
      witness: createSourceRpc(deps, { timeoutMs, maxBodyBytes: witnessBytes, maxConcurrent: 2 }, endpoint),
    }
  }

  /** Returns the first question for which the source has all methods. */
  choose(questions: readonly (Question | undefined)[]): Question | undefined {
    return questions.find((each) => each?.calls.every(({ method }) => !this.#lacks.has(method)))
  }

  /** @returns undefined when the source lacks the part, or a method that it is not asked for again @throws the faults of its requests, WrongProof, ShapeError */
  async ask({ calls, read }: Question, way: Way, signal: AbortSignal): Promise<FetchedState | undefined> {
    try {
      return read(await this.#rpcs[way].call(calls, signal))
    } catch (error) {
      if (!isFault(error, 'SOURCE_RPC_ERROR')) throw error
      // an error does not name its call: the first method is the one that not all clients have
      const isUnknown = error.data['code'] === methodNotFound
      if (isUnknown) this.#lacks.add(calls[0]?.method ?? '')
      // no witness is no reason for a pause: the block may be too new
      if (isUnknown || way === 'witness') return undefined
      throw error
    }
  }
}

/** Several sources of state. None is believed: an answer counts when its proofs fit the state root of the request. */
class StateSources implements StateSource {
  readonly #deps: StateSourcesDeps
  readonly #sources: readonly Source[]
  readonly #deadlineMs: number
  /** addresses of accounts by the hash of their code, for sources that find codes by address only */
  readonly #addresses = new Lru<Hash, Address>(knownAddressBytes)

  constructor(deps: StateSourcesDeps, endpoints: readonly Endpoint[], { timeoutMs = 4_000, deadlineMs = 10_000 }: StateSourcesOptions) {
    this.#deps = deps
    this.#deadlineMs = deadlineMs
    this.#sources = endpoints.map((endpoint, at) => new Source(deps, endpoint, String(at + 1) as SourceLabel, timeoutMs))
    this.#showUsable()
  }

  async fetch(request: StateRequest): Promise<FetchedState> {
    const { clock, metrics } = this.#deps
    const stop = new AbortController()
    const withinMs = Math.min(this.#deadlineMs, request.withinMs ?? this.#deadlineMs)
    using _deadline = clock.after(withinMs, () => stop.abort(this.#unavailable(request, `no answer within ${withinMs / 1_000} s`)))
    try {
      const witness = await this.#race([witnessQuestion(request)], 'witness', stop.signal)
      const found = witness ?? (await this.#prove(request, stop.signal))
      metrics.fetches.inc({ way: witness ? 'witness' : 'proof' })
      return found
    } catch (error) {
      metrics.fetches.inc({ way: 'failed' })
      throw error
    }
  }

  /** Asks all sources in rounds, while one of them may have an answer later. */
  async #prove(request: StateRequest, signal: AbortSignal): Promise<FetchedState> {
    const { clock } = this.#deps
    for (;;) {
      const questions = [rangeQuestion(request), proofQuestion(request, (codeHash) => this.#addresses.get(codeHash))]
      const found = await this.#race(questions, 'proof', signal)
      if (found) {
        this.#noteAddress(request, found)
        return found
      }
      const waits = this.#sources.map((source) =>
        source.choose(questions) ? source.health.waitMs(clock.elapsedMs()) : Number.POSITIVE_INFINITY,
      )
      const waitMs = Math.min(...waits)
      if (waitMs === Number.POSITIVE_INFINITY) throw this.#unavailable(request, this.#reason())
      await clock.delay(Math.max(roundMs, waitMs), signal)
    }
  }

  async #race(questions: readonly (Question | undefined)[], way: Way, signal: AbortSignal): Promise<FetchedState | undefined> {
    const { clock, metrics } = this.#deps
    const nowMs = clock.elapsedMs()
    const usable = this.#sources.filter(({ health }) => health.waitMs(nowMs) === 0)
    const racers = usable
      .toSorted((a, b) => a.times[way].medianMs - b.times[way].medianMs)
      .flatMap((source) => {
        const question = source.choose(questions)
        return question ? [{ hedgeMs: source.times[way].slowMs, run: (stop: AbortSignal) => this.#ask(source, question, way, stop) }] : []
      })
    const mayHedge = (): boolean => {
      metrics.hedges.inc({})
      return true
    }
    return race({ clock, mayHedge }, racers, signal)
  }

  /** @returns undefined when the source has no answer that counts; if it failed, it is paused, and after a wrong proof excluded */
  async #ask(source: Source, question: Question, way: Way, stop: AbortSignal): Promise<FetchedState | undefined> {
    const { clock } = this.#deps
    const startMs = clock.elapsedMs()
    try {
      const found = await source.ask(question, way, stop)
      source.times[way].add(clock.elapsedMs() - startMs)
      source.health.answered()
      return found
    } catch (error) {
      if (stop.aborted) return undefined
      if (error instanceof WrongProof) this.#exclude(source, error)
      else if (error instanceof Fault || error instanceof ShapeError) this.#pause(source, error)
      else throw error
      return undefined
    } finally {
      this.#showUsable()
    }
  }

  #exclude({ health, endpoint, label }: Source, { message }: WrongProof): void {
    const { log, metrics } = this.#deps
    metrics.lies.inc({ source: label })
    if (!health.isExcluded) log.error('state source excluded, wrong proof', { endpoint: endpoint.name, reason: message })
    health.exclude()
  }

  #pause({ health, endpoint }: Source, error: Fault | ShapeError): void {
    const { clock, log } = this.#deps
    const isNew = health.failed(clock.elapsedMs(), askedWaitMs(error))
    if (isNew) log.warn('state source failed, paused', { endpoint: endpoint.name, reason: error.message })
  }

  #noteAddress({ wanted }: StateRequest, { nodes }: FetchedState): void {
    if (wanted.kind !== 'account' || wanted.address === undefined) return
    const codeHash = codeHashOf(nodes, wanted.addressKey)
    if (codeHash !== undefined && codeHash !== emptyCodeHash) this.#addresses.set(codeHash, wanted.address, addressBytes)
  }

  #showUsable(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    this.#deps.metrics.usable.set({}, this.#sources.filter(({ health }) => health.waitMs(nowMs) === 0).length)
  }

  #reason(): string {
    const excluded = this.#sources.filter(({ health }) => health.isExcluded).length
    return `of ${this.#sources.length} sources ${excluded} sent a wrong proof, others failed or lack it`
  }

  #unavailable({ at, wanted }: StateRequest, reason: string): Fault {
    return stateSourceFault('STATE_UNAVAILABLE', { part: nameOf(wanted), number: at.number, reason })
  }
}

function nameOf(wanted: StateRequest['wanted']): string {
  switch (wanted.kind) {
    case 'account':
      return `the account ${wanted.address ?? toHex(wanted.addressKey)}`
    case 'slot':
      return `a slot of the account ${wanted.address ?? toHex(wanted.addressKey)}`
    case 'code':
      return `the code ${wanted.codeHash}`
    case 'node':
      return `a trie node of ${wanted.owner ? `the account ${toHex(wanted.owner)}` : 'the accounts'}`
    case 'blockHash':
      return `the hash of block ${wanted.number}`
  }
}

/** Creates sources of state from URLs. @throws Fault STATE_URL_INVALID (fatal) */
export function createStateSources(deps: StateSourcesDeps, options: StateSourcesOptions): StateSource {
  if (options.urls.length === 0 || options.urls.length > maxSources) {
    throw stateSourceFault('STATE_URL_INVALID', { reason: `${options.urls.length} URLs, expected 1 to ${maxSources}` })
  }
  const endpoints = options.urls.map((url, at) => {
    const endpoint = parseEndpoint(url, ['http:', 'https:'])
    if (endpoint === undefined) throw stateSourceFault('STATE_URL_INVALID', { reason: `URL ${at + 1} is not an HTTP URL` })
    return endpoint
  })
  return new StateSources(deps, endpoints, options)
}
