import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { type TransferredError, transferError } from '#lib/errorTransfer'
import { createTransferLog, type LogLine } from '#lib/logTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { CallContext } from '#rpc/context'
import { healthPages, type Page } from '#rpc/healthPages'
import { createRegistry } from '#rpc/registry'
import { createRpcServer } from '#rpc/server'
import type { Listen } from '../serving/servers.ts'

/** What the health thread is started with. */
export type HealthSettings = { readonly listen: Listen; readonly version: string }

/** What main answers to the health thread. */
export type ForHealthThread = {
  /** It listens. */
  opened(url: string): void
  /** It cannot start. */
  failed(error: TransferredError): void
  log(line: LogLine): void
  /** Why the node's answers are not fresh. */
  problems(): readonly string[]
}

/** What the health thread answers to main. */
export type OfHealthThread = { close(): void }

/** Between two questions to main, asked or not. */
const lookEveryMs = 1_000
/** A page waits so long for main; then it has what main said last … */
const waitMs = 300
/** … if that is not older than this. */
const maxAgeMs = 5_000
/** After so long without an answer of main the node counts as stuck. */
const stuckMs = 10_000

/** What main said last, and for how long it has been silent. */
class MainWatch implements Disposable {
  readonly #clock: Clock
  readonly #ask: () => Promise<readonly string[]>
  #asking: Promise<void> | undefined
  #problems: readonly string[] = ['the main thread of the node has not answered yet']
  #answeredMs: number
  #timer: Disposable

  constructor(clock: Clock, ask: () => Promise<readonly string[]>) {
    this.#clock = clock
    this.#ask = ask
    this.#answeredMs = clock.elapsedMs()
    this.#timer = clock.after(0, () => this.#look())
  }

  get silentMs(): number {
    return this.#clock.elapsedMs() - this.#answeredMs
  }

  /** Why the node is stuck; none: it is not. */
  get stuck(): readonly string[] {
    return this.silentMs > stuckMs ? [this.#silence()] : []
  }

  /** Asks main again, and waits for its answer for a short time. */
  async refresh(): Promise<void> {
    const late = Promise.withResolvers<void>()
    using _timer = this.#clock.after(waitMs, late.resolve)
    await Promise.race([this.#askOnce(), late.promise])
  }

  /** Why the node's answers are not fresh; none: they are. */
  problems(): readonly string[] {
    return this.silentMs > maxAgeMs ? [this.#silence()] : this.#problems
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

  /** One question is open at a time. */
  #askOnce(): Promise<void> {
    this.#asking ??= this.#ask().then(
      (problems) => {
        this.#problems = problems
        this.#answeredMs = this.#clock.elapsedMs()
        this.#asking = undefined
      },
      () => {
        this.#asking = undefined
      },
    )
    return this.#asking
  }
}

const limits = { maxConnections: 64, maxBodyBytes: 1_000, requestTimeoutMs: 2_000, stallTimeoutMs: 5_000, closeTimeoutMs: 500 }

/**
 * Serves `/healthz` and `/readyz` in this thread until main closes it. The answers are main's; while main is busy its last ones count, for five
 * seconds. A start that fails is reported to main.
 * @param port to main; closed at the end
 */
export async function runHealthThread(port: MessagePort, { listen, version }: HealthSettings, clock: Clock): Promise<void> {
  const closing = Promise.withResolvers<void>()
  const post = (message: unknown): void => port.postMessage(message)
  const onFailure = (error: unknown): void => log.error('a message of the main thread failed', { error })
  const here: OfHealthThread = { close: () => closing.resolve() }
  const main = new ThreadLink<ForHealthThread, OfHealthThread>({ post, here, onFailure })
  const log = createTransferLog((line) => main.tell('log', line), 'health')
  port.on('message', (message) => main.receive(message))
  try {
    using watch = new MainWatch(clock, () => main.ask('problems'))
    const readiness = async (): Promise<{ problems: readonly string[] }> => {
      await watch.refresh()
      return { problems: watch.problems() }
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
