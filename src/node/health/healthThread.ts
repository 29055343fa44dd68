import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { type TransferredError, transferError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import { createTransferLog, type LogLine } from '#lib/logTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { CallContext } from '#rpc/context'
import type { Readiness } from '#rpc/ports'
import { createRegistry } from '#rpc/registry'
import { healthPages, type Page } from '#rpc/server/healthPages'
import { createRpcServer } from '#rpc/server/httpServer'
import type { Listen } from '../serving/servers.ts'

export type HealthSettings = { readonly listen: Listen; readonly version: string }

/** Calls and notices that the main thread takes from the health thread. */
export type ForHealthThread = {
  opened(url: string): void
  /** The server cannot start. */
  failed(error: TransferredError): void
  log(line: LogLine): void
  readiness(): Readiness
}

/** Notices that the health thread takes from the main thread. */
export type OfHealthThread = { close(): void }

/** Interval between calls to the main thread, also without requests. */
const lookEveryMs = 1_000
/** Longest wait of a page for the main thread; then the last answer is used … */
const waitMs = 300
/** … if it is not older than this. */
const maxAgeMs = 5_000
/** Silence of the main thread after which the node counts as stuck. */
const stuckMs = 10_000

/** Last answer of the main thread, and how long it has been silent. */
class MainWatch implements Disposable {
  readonly #clock: Clock
  readonly #ask: () => Promise<Readiness>
  #asking: Promise<void> | undefined
  #last: Readiness = { problems: ['the main thread of the node has not answered yet'] }
  #answeredMs: number
  #timer: Disposable

  constructor(clock: Clock, ask: () => Promise<Readiness>) {
    this.#clock = clock
    this.#ask = ask
    this.#answeredMs = clock.elapsedMs()
    this.#timer = clock.after(0, () => this.#look())
  }

  get silentMs(): number {
    return this.#clock.elapsedMs() - this.#answeredMs
  }

  /** Returns why the node is stuck; empty: it is not. */
  get stuck(): readonly string[] {
    return this.silentMs > stuckMs ? [this.#silence()] : []
  }

  /** Calls the main thread and waits a short time for its answer. */
  async refresh(): Promise<void> {
    const late = Promise.withResolvers<void>()
    using _timer = this.#clock.after(waitMs, late.resolve)
    await Promise.race([this.#askOnce(), late.promise])
  }

  readiness(): Readiness {
    return this.silentMs > maxAgeMs ? { problems: [this.#silence()] } : this.#last
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]()
  }

  #silence(): string {
    return `the main thread of the node has not answered for ${Math.round(this.silentMs / 1_000)} s`
  }

  #look(): void {
    void this.#askOnce()
    this.#timer = this.#clock.after(lookEveryMs, () => this.#look())
  }

  /** One call is open at a time. */
  #askOnce(): Promise<void> {
    const answered = (readiness: Readiness): void => {
      this.#last = readiness
      this.#answeredMs = this.#clock.elapsedMs()
      this.#asking = undefined
    }
    this.#asking ??= this.#ask().then(answered, (error: unknown) =>
      // an error is an answer: the main thread is there
      answered({ problems: [`the state of the node cannot be read: ${errorMessage(error)}`] }),
    )
    return this.#asking
  }
}

const limits = { maxConnections: 64, maxBodyBytes: 1_000, requestTimeoutMs: 2_000, stallTimeoutMs: 5_000, closeTimeoutMs: 500 }

/**
 * Serves `/healthz` and `/readyz` in this thread until the main thread closes it. The answers come from the main thread; while it is busy, its last
 * answer is used for five seconds. Reports a failed start to the main thread.
 * @param port to the main thread; closed at the end
 */
export async function runHealthThread(port: MessagePort, { listen, version }: HealthSettings, clock: Clock): Promise<void> {
  const closing = Promise.withResolvers<void>()
  const post = (message: unknown): void => port.postMessage(message)
  const onFailure = (error: unknown): void => log.error('message of the main thread failed', { error })
  const here: OfHealthThread = { close: () => closing.resolve() }
  const main = new ThreadLink<ForHealthThread, OfHealthThread>({ post, here, onFailure })
  const log = createTransferLog((line) => main.tell('log', line), 'health')
  port.on('message', (message) => main.receive(message))
  try {
    using watch = new MainWatch(clock, () => main.ask('readiness'))
    const readiness = async (): Promise<Readiness> => {
      await watch.refresh()
      return watch.readiness()
    }
    const alive = async (): Promise<Page> => {
      await watch.refresh()
      const problems = watch.stuck
      return problems.length === 0 ? { status: 200, body: { version } } : { status: 503, body: { version, problems } }
    }
    const pages = new Map([...healthPages({ readiness }, version), ['/healthz', alive]])
    const contextOf = (cancellation: CallContext['cancellation']): CallContext => ({ cancellation })
    await using server = await createRpcServer(
      { registry: createRegistry<CallContext>(), contextOf, pages, log, clock },
      { ...listen, flag: 'health.port', limits },
    )
    main.tell('opened', server.url)
    await closing.promise
  } catch (error) {
    main.tell('failed', transferError(error))
  } finally {
    port.close()
  }
}
