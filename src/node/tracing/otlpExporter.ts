import type { Clock } from '#lib/clock'
import { type Endpoint, endpointOf } from '#lib/endpoint'
import { failureReason, type JsonHttpOutcome, requestJson, type Send } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { isJsonObject } from '#rpc/json'
import type { TraceMetrics } from '../metrics.ts'
import { exportRequest, type Resource } from './otlpJson.ts'
import type { Span, SpanSink } from './span.ts'

export const exporterLimits = {
  /** spans that wait; later ones are dropped */
  queue: 4_096,
  /** spans of one request */
  batch: 512,
  /** between two requests; between two full ones */
  intervalMs: 2_000,
  fullIntervalMs: 200,
  timeoutMs: 10_000,
  /** for the last request at the end */
  closeTimeoutMs: 2_000,
  /** longest pause after failures */
  maxPauseMs: 60_000,
  maxAnswerBytes: 100_000,
}

export type ExporterDeps = { readonly clock: Clock; readonly log: Log; readonly fetch: Send; readonly metrics: TraceMetrics }
export type ExporterOptions = {
  /** base URL of a collector: `/v1/traces` is appended unless it ends so */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Resource
}

/** Returns the endpoint of the traces of a collector. @see OpenTelemetry specification, "OTLP Exporter Configuration", "Endpoint URLs for OTLP/HTTP" */
export function tracesEndpoint(base: string): Endpoint {
  const url = new URL(base)
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return endpointOf(url)
}

/** Number of spans that a collector did not take, in an answer with status 2xx. */
function rejectedIn(json: unknown): number {
  const partial = isJsonObject(json) ? json['partialSuccess'] : undefined
  const rejected = isJsonObject(partial) ? Number(partial['rejectedSpans'] ?? 0) : 0
  return Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0
}

/**
 * Sends spans to a collector, one request at a time, from a bounded queue. While the collector does not answer, requests are repeated with growing pauses,
 * spans that do not fit are dropped and counted, and the log has one line. Disposing sends what waits once more.
 */
export class OtlpExporter implements SpanSink, AsyncDisposable {
  readonly #deps: ExporterDeps
  readonly #options: ExporterOptions
  readonly #endpoint: Endpoint
  #queue: Span[] = []
  #timer: Disposable | undefined
  #sending: Promise<void> | undefined
  /** since the last success */
  #failures = 0
  #isClosed = false
  /** ends the running request */
  readonly #end = new AbortController()

  constructor(deps: ExporterDeps, options: ExporterOptions) {
    this.#deps = deps
    this.#options = options
    this.#endpoint = tracesEndpoint(options.url)
  }

  add(spans: readonly Span[]): void {
    const room = Math.max(0, exporterLimits.queue - this.#queue.length)
    for (const span of spans.slice(0, room)) this.#queue.push(span)
    if (spans.length > room) this.#deps.metrics.spans.inc({ outcome: 'dropped' }, spans.length - room)
    this.#deps.metrics.queue.set({}, this.#queue.length)
    this.#schedule()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    using _late = this.#deps.clock.after(exporterLimits.closeTimeoutMs, () => this.#end.abort())
    await this.#sending
    if (this.#failures === 0 && this.#queue.length > 0) await this.#send()
    if (this.#queue.length > 0) this.#deps.metrics.spans.inc({ outcome: 'dropped' }, this.#queue.length)
    this.#queue = []
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#sending !== undefined || this.#queue.length === 0) return
    const { intervalMs, fullIntervalMs, maxPauseMs, batch } = exporterLimits
    const isFull = this.#failures === 0 && this.#queue.length >= batch
    const pauseMs = isFull ? fullIntervalMs : Math.min(intervalMs * 2 ** this.#failures, maxPauseMs)
    this.#timer = this.#deps.clock.after(pauseMs, () => {
      this.#timer = undefined
      this.#sending = this.#send().finally(() => {
        this.#sending = undefined
        this.#schedule()
      })
    })
  }

  async #send(): Promise<void> {
    const batch = this.#queue.slice(0, exporterLimits.batch)
    const { timeoutMs, maxAnswerBytes } = exporterLimits
    const { url, headers } = this.#endpoint
    const request = { url, headers: { ...headers, ...this.#options.headers }, body: exportRequest(this.#options.resource, batch) }
    const { signal } = this.#end
    try {
      this.#take(batch.length, await requestJson(this.#deps, { timeoutMs, maxBodyBytes: maxAnswerBytes }, request, signal))
    } catch (error) {
      if (!signal.aborted) throw error
    }
    this.#deps.metrics.queue.set({}, this.#queue.length)
  }

  /** An answer ends a batch, also a refusal of its content: it would be refused again. Otherwise the batch stays in the queue. */
  #take(count: number, outcome: JsonHttpOutcome): void {
    const { metrics, log } = this.#deps
    const isTaken = outcome.kind === 'answer' && outcome.status < 300
    if (outcome.kind === 'answer') {
      const rejected = isTaken ? Math.min(count, rejectedIn(outcome.json)) : count
      metrics.spans.inc({ outcome: 'exported' }, count - rejected)
      metrics.spans.inc({ outcome: 'rejected' }, rejected)
      this.#queue = this.#queue.slice(count)
    }
    if (isTaken) {
      if (this.#failures > 0) log.info('traces are exported again', { collector: this.#endpoint.name })
      this.#failures = 0
      return
    }
    const reason = outcome.kind === 'answer' ? `HTTP ${outcome.status}` : failureReason(outcome)
    if (this.#failures++ === 0) log.warn('traces not exported, retrying', { collector: this.#endpoint.name, reason })
  }
}
