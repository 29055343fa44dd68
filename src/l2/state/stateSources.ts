import { race } from '#l1/race'
import type { Clock } from '#lib/clock'
import { type Endpoint, parseEndpoint } from '#lib/endpoint'
import { Fault, isFault } from '#lib/fault'
import { toHex } from '#lib/hex'
import type { JsonHttpDeps } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { Lru } from '#lib/lru'
import { askedWaitMs } from '#lib/retry'
import type { BlockWitness } from '#state/blockWitness'
import type { FetchedState } from '#state/fetchedState'
import type { BlockToExecute, RangeRequest, RangeSource, StateRange, StateRequest, StateSource, WitnessSource } from '#state/stateSource'
import { type Address, emptyCodeHash, type Hash } from '#types/ids'
import { ShapeError } from '#types/jsonShape'
import { stateSourceFault } from '../faults.ts'
import { maxSources, type SourceLabel, type StateSourceMetrics } from '../metrics.ts'
import { createSourceRpc, type SourceRpc } from '../rpc.ts'
import { codeHashOf, proofQuestion, type Question, rangeQuestion, WrongProof, witnessQuestion } from './provedAnswers.ts'
import { codesQuestion, rangesQuestion } from './rangeAnswers.ts'
import { ResponseTimes, SourceHealth } from './sourceHealth.ts'

export type StateSourcesDeps = JsonHttpDeps & { readonly clock: Clock; readonly log: Log; readonly metrics: StateSourceMetrics }

export type StateSourcesOptions = {
  /** HTTP URLs of nodes of the chain, best first */
  readonly urls: readonly string[]
  /** limit of one request, and of all requests for a part */
  readonly timeoutMs?: number
  readonly deadlineMs?: number
}

/** Limits of responses: a batch of proofs with a code; a witness of a large block as hex; a batch of ranges. */
const [proofBytes, witnessBytes, rangeBytes] = [4 * 2 ** 20, 64 * 2 ** 20, 32 * 2 ** 20]
const maxConcurrent = 8
/** Witnesses and ranges take longer than other requests. No block waits for ranges. */
const [witnessFactor, rangeFactor] = [2, 4]
/** Bound of the addresses of codes. */
const knownAddressBytes = 4 * 2 ** 20
const addressBytes = 200

/** Pause between two rounds in which every source was asked. */
const roundMs = 250
const methodNotFound = -32_601

type Way = 'witness' | 'proof' | 'range'
/** Methods without which a source does not enumerate its state. */
const enumerating = ['basalt_stateRange', 'debug_codeByHash'] as const

class Source {
  readonly endpoint: Endpoint
  readonly label: SourceLabel
  /** of requests that blocks and clients wait for */
  readonly health = new SourceHealth()
  /** of witnesses: a source that is too slow for them may still answer the others */
  readonly witnessHealth = new SourceHealth()
  /** of ranges: as for witnesses */
  readonly rangeHealth = new SourceHealth()
  readonly times: Readonly<Record<Way, ResponseTimes>> = {
    witness: new ResponseTimes(),
    proof: new ResponseTimes(),
    range: new ResponseTimes(),
  }
  readonly #rpcs: Readonly<Record<Way, SourceRpc>>
  /** methods that the source does not have */
  readonly #lacks = new Set<string>()
  /** It has sent a wrong proof: it is asked only while no other source answers. */
  isLiar = false

  constructor(deps: StateSourcesDeps, endpoint: Endpoint, label: SourceLabel, timeoutMs: number) {
    this.endpoint = endpoint
    this.label = label
    this.#rpcs = {
      proof: createSourceRpc(deps, { timeoutMs, maxBodyBytes: proofBytes, maxConcurrent }, endpoint),
      witness: createSourceRpc(deps, { timeoutMs: witnessFactor * timeoutMs, maxBodyBytes: witnessBytes, maxConcurrent: 2 }, endpoint),
      range: createSourceRpc(deps, { timeoutMs: rangeFactor * timeoutMs, maxBodyBytes: rangeBytes, maxConcurrent: 2 }, endpoint),
    }
  }

  healthOf(way: Way): SourceHealth {
    if (way === 'witness') return this.witnessHealth
    return way === 'range' ? this.rangeHealth : this.health
  }

  /** Returns whether the source may have all methods: false when it has refused one. */
  mayHave(methods: readonly string[]): boolean {
    return methods.every((method) => !this.#lacks.has(method))
  }

  /** Returns the first question for which the source has all methods. */
  choose<T>(questions: readonly (Question<T> | undefined)[]): Question<T> | undefined {
    return questions.find((each) => each?.calls.every(({ method }) => !this.#lacks.has(method)))
  }

  /** @returns undefined when the source lacks the part, or a method that it is not asked for again @throws the faults of its requests, WrongProof, ShapeError */
  async ask<T>({ calls, read }: Question<T>, way: Way, signal: AbortSignal): Promise<T | undefined> {
    try {
      return read(await this.#rpcs[way].call(calls, signal))
    } catch (error) {
      if (!isFault(error, 'SOURCE_RPC_ERROR')) throw error
      const isUnknown = error.data['code'] === methodNotFound
      if (isUnknown) this.#lacks.add(String(error.data['asked']))
      // no witness is no reason for a pause: the block may be too new
      if (isUnknown || way === 'witness') return undefined
      throw error
    }
  }
}

/** Several sources of state. None is believed: an answer counts when its proofs fit the state root of the request. */
class StateSources implements StateSource, WitnessSource, RangeSource {
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
    const { metrics } = this.#deps
    const lacking = { part: nameOf(request.wanted), number: request.at.number }
    try {
      return await this.#within(Math.min(this.#deadlineMs, request.withinMs ?? this.#deadlineMs), lacking, async (signal) => {
        const { block, partOnly } = request
        const witness = block && !partOnly ? await this.#witness(block, signal) : undefined
        metrics.fetches.inc({ way: witness ? 'witness' : 'proof' })
        return witness ? { nodes: [], codes: [], witness } : await this.#prove(request, lacking, signal)
      })
    } catch (error) {
      metrics.fetches.inc({ way: 'failed' })
      throw error
    }
  }

  async witness(block: BlockToExecute): Promise<BlockWitness | undefined> {
    const lacking = { part: 'a witness', number: block.number }
    try {
      return await this.#within(witnessFactor * this.#deadlineMs, lacking, (signal) => this.#witness(block, signal))
    } catch (error) {
      if (isFault(error, 'STATE_UNAVAILABLE')) return undefined
      throw error
    }
  }

  /** Asks again after pauses: a block without its witness lacks hundreds of parts. */
  async #witness(block: BlockToExecute, signal: AbortSignal): Promise<BlockWitness | undefined> {
    const { clock } = this.#deps
    const question = witnessQuestion(block)
    for (;;) {
      const found = await this.#race([question], 'witness', signal)
      const able = this.#sources.filter((source) => source.choose([question]))
      const waitMs = Math.min(...able.map(({ witnessHealth }) => witnessHealth.waitMs(clock.elapsedMs())))
      // a source that is not paused has no witness of this block
      if (found || able.length === 0 || waitMs === 0) return found
      await clock.delay(waitMs, signal)
    }
  }

  ranges(at: StateRequest['at'], wanted: readonly RangeRequest[]): Promise<readonly StateRange[]> {
    return this.#enumerate(rangesQuestion(at, wanted), { part: 'a range', number: at.number })
  }

  codes(at: StateRequest['at'], hashes: readonly Hash[]): Promise<readonly Uint8Array[]> {
    return this.#enumerate(codesQuestion(hashes), { part: 'codes', number: at.number })
  }

  enumerates(): boolean {
    return this.#sources.some((source) => source.mayHave(enumerating))
  }

  #enumerate<T>(question: Question<T>, lacking: Lacking): Promise<T> {
    return this.#within(rangeFactor * this.#deadlineMs, lacking, (signal) => this.#rounds(() => [question], 'range', lacking, signal))
  }

  /** Runs requests until a deadline. */
  async #within<T>(withinMs: number, lacking: Lacking, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController()
    using _deadline = this.#deps.clock.after(withinMs, () => stop.abort(unavailable(lacking, `no answer within ${withinMs / 1_000} s`)))
    return await run(stop.signal)
  }

  async #prove(request: StateRequest, lacking: Lacking, signal: AbortSignal): Promise<FetchedState> {
    const questions = (): (Question | undefined)[] => [
      rangeQuestion(request),
      proofQuestion(request, (codeHash) => this.#addresses.get(codeHash)),
      // of a source without `eth_getCode`; the code is requested by its hash later
      rangeQuestion(request, 'without code'),
    ]
    const found = await this.#rounds(questions, 'proof', lacking, signal)
    this.#noteAddress(request, found)
    return found
  }

  /** Asks all sources in rounds, while one of them may have an answer later. */
  async #rounds<T>(questionsNow: () => readonly (Question<T> | undefined)[], way: Way, lacking: Lacking, signal: AbortSignal): Promise<T> {
    const { clock } = this.#deps
    for (;;) {
      const questions = questionsNow()
      const found = await this.#race(questions, way, signal)
      if (found) return found
      const waits = this.#sources.map((source) =>
        source.choose(questions) ? source.healthOf(way).waitMs(clock.elapsedMs()) : Number.POSITIVE_INFINITY,
      )
      const waitMs = Math.min(...waits)
      if (waitMs === Number.POSITIVE_INFINITY) throw unavailable(lacking, this.#reason())
      await clock.delay(Math.max(roundMs, waitMs), signal)
    }
  }

  /** Asks the usable sources, and then sources that have lied: their answers are verified as all others are. */
  async #race<T>(questions: readonly (Question<T> | undefined)[], way: Way, signal: AbortSignal): Promise<T | undefined> {
    const nowMs = this.#deps.clock.elapsedMs()
    const usable = this.#sources.filter((source) => source.healthOf(way).waitMs(nowMs) === 0)
    const [liars, others] = [usable.filter(({ isLiar }) => isLiar), usable.filter(({ isLiar }) => !isLiar)]
    return (await this.#raceOf(others, questions, way, signal)) ?? (await this.#raceOf(liars, questions, way, signal))
  }

  #raceOf<T>(
    sources: readonly Source[],
    questions: readonly (Question<T> | undefined)[],
    way: Way,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const { clock, metrics } = this.#deps
    const racers = sources
      .toSorted((a, b) => a.times[way].medianMs - b.times[way].medianMs)
      .flatMap((source) => {
        const question = source.choose(questions)
        return question ? [{ hedgeMs: source.times[way].slowMs, run: (stop: AbortSignal) => this.#ask(source, question, way, stop) }] : []
      })
    // a range is large, and no block waits for it
    const mayHedge = (): boolean => {
      if (way === 'range') return false
      metrics.hedges.inc({})
      return true
    }
    return race({ clock, mayHedge }, racers, signal)
  }

  /** @returns undefined when the source has no answer that counts; if it failed or lied, it is paused */
  async #ask<T>(source: Source, question: Question<T>, way: Way, stop: AbortSignal): Promise<T | undefined> {
    const { clock } = this.#deps
    const startMs = clock.elapsedMs()
    try {
      const found = await source.ask(question, way, stop)
      source.times[way].add(clock.elapsedMs() - startMs)
      source.healthOf(way).answered()
      return found
    } catch (error) {
      if (stop.aborted) return undefined
      if (error instanceof WrongProof) this.#distrust(source, way, error)
      else if (error instanceof Fault || error instanceof ShapeError) this.#pause(source, way, error)
      else throw error
      return undefined
    } finally {
      this.#showUsable()
    }
  }

  #distrust(source: Source, way: Way, { message }: WrongProof): void {
    const { clock, log, metrics } = this.#deps
    const { endpoint, label } = source
    metrics.lies.inc({ source: label })
    if (!source.isLiar)
      log.error('state source sent a wrong proof, used only while no other answers', { endpoint: endpoint.name, reason: message })
    source.isLiar = true
    source.healthOf(way).failed(clock.elapsedMs(), 0)
  }

  #pause(source: Source, way: Way, error: Fault | ShapeError): void {
    const { clock, log } = this.#deps
    const { endpoint } = source
    const isNew = source.healthOf(way).failed(clock.elapsedMs(), askedWaitMs(error))
    if (isNew) log.warn('state source failed, paused', { endpoint: endpoint.name, reason: error.message })
  }

  #noteAddress({ wanted }: StateRequest, { nodes }: FetchedState): void {
    if (wanted.kind !== 'account' || wanted.address === undefined) return
    const codeHash = codeHashOf(nodes, wanted.addressKey)
    if (codeHash !== undefined && codeHash !== emptyCodeHash) this.#addresses.set(codeHash, wanted.address, addressBytes)
  }

  #showUsable(): void {
    const nowMs = this.#deps.clock.elapsedMs()
    this.#deps.metrics.usable.set({}, this.#sources.filter(({ health, isLiar }) => !isLiar && health.waitMs(nowMs) === 0).length)
  }

  #reason(): string {
    const liars = this.#sources.filter(({ isLiar }) => isLiar).length
    return `of ${this.#sources.length} sources ${liars} sent a wrong proof, others failed or lack it`
  }
}

/** Name of a wanted part, and the block whose state has it. */
type Lacking = { readonly part: string; readonly number: number }

const unavailable = (lacking: Lacking, reason: string): Fault => stateSourceFault('STATE_UNAVAILABLE', { ...lacking, reason })

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
export function createStateSources(deps: StateSourcesDeps, options: StateSourcesOptions): StateSource & WitnessSource & RangeSource {
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
