import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { nodeFault } from '../faults.ts'
import { counted } from '../metrics/scrape.ts'
import type { RpcThreadsMetrics } from '../metrics.ts'
import type { RpcThread } from './rpcThread.ts'
import type { MetricValues } from './rpcWorkerProtocol.ts'

/** Longest wait for the metrics of a busy thread. */
const metricsTimeoutMs = 1_000

type Outcome = { readonly kind: 'read'; readonly values: MetricValues } | { readonly kind: 'late' | 'failed'; readonly error: Error }

export type ThreadReadingsDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<RpcThreadsMetrics, 'readFailures' | 'unmeasured'>
}

/**
 * Last metrics of each thread, and the counts of those that have ended. A thread whose metrics cannot be read keeps its earlier ones, is counted at each
 * scrape, and logged once.
 */
export class ThreadReadings {
  readonly #deps: ThreadReadingsDeps
  readonly #values: MetricValues[] = []
  /** numbers of the threads whose last reading failed */
  readonly #failing = new Set<number>()
  #ended: Promise<MetricValues> = Promise.resolve([])

  constructor(deps: ThreadReadingsDeps) {
    this.#deps = deps
  }

  /** by the number of the thread */
  get values(): readonly MetricValues[] {
    return this.#values
  }

  /** Returns the values of each thread, and the counts of all ended threads. */
  async all(): Promise<readonly MetricValues[]> {
    return [...this.#values, await this.#ended]
  }

  /** Reads the metrics of all threads at once. Never rejects. @param threads undefined: the thread has ended, and another one starts */
  async read(threads: readonly ({ readonly link: Pick<RpcThread['link'], 'ask'> } | undefined)[]): Promise<void> {
    const { clock, metrics } = this.#deps
    const late = Promise.withResolvers<Outcome>()
    using _timer = clock.after(metricsTimeoutMs, () =>
      late.resolve({ kind: 'late', error: new Error(`no answer within ${metricsTimeoutMs} ms`) }),
    )
    await Promise.all(
      threads.map(async (thread, number) => {
        this.#values[number] ??= []
        if (thread) this.#take(number, await Promise.race([outcomeOf(thread.link.ask('metrics')), late.promise]))
        else this.#failing.delete(number)
      }),
    )
    metrics.unmeasured.set({}, this.#failing.size)
  }

  /** Adds the last counts of a thread to those of all ended threads, and forgets its metrics. */
  end(number: number): void {
    const values = this.#values[number] ?? []
    this.#values[number] = []
    this.#ended = this.#ended.then((ended) => counted([ended, values]))
  }

  #take(number: number, outcome: Outcome): void {
    const { log, metrics } = this.#deps
    if (outcome.kind === 'read') {
      this.#values[number] = outcome.values
      if (this.#failing.delete(number)) log.info('metrics of an RPC thread are read again', { thread: number })
      return
    }
    metrics.readFailures.inc({ why: outcome.kind })
    if (this.#failing.has(number)) return
    this.#failing.add(number)
    const { error: cause } = outcome
    log.warn('metrics of an RPC thread not read', {
      thread: number,
      error: nodeFault('THREAD_UNMEASURED', { thread: number, reason: errorMessage(cause) }, cause),
    })
  }
}

async function outcomeOf(asked: Promise<MetricValues>): Promise<Outcome> {
  try {
    return { kind: 'read', values: await asked }
  } catch (error) {
    return { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
  }
}
