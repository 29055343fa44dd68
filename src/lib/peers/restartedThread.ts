import { MessageChannel, type MessagePort, Worker, workerData } from 'node:worker_threads'
import type { Clock } from '../clock.ts'
import { restoreError, type TransferredError, transferError } from '../errorTransfer.ts'
import { errorMessage } from '../fault.ts'
import type { Log } from '../log.ts'
import { createTransferLog, type LogLine, writeLine } from '../logTransfer.ts'
import { type Answers, ThreadLink } from '../threadLink.ts'

/** Messages of a thread; those of the link are in `link`. */
type FromThread<Ready> =
  | { readonly ready: Ready }
  | { readonly failure: TransferredError }
  | { readonly link: unknown }
  | { readonly log: LogLine }

/** Bounds of a thread's heap: peers must not take the memory of the node. */
const resourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 }
const restartMs = 5_000
/** Time for a thread to end: after the call to close, after its report that it cannot begin. */
const endMs = 10_000
const failedMs = 1_000

/** The main thread's side of a thread: calls in both directions. */
export type RestartedThreadDeps<Here> = {
  readonly clock: Clock
  readonly log: Log
  /** calls that this thread answers */
  readonly here: Here
  /** file of the thread */
  readonly entry: URL
  readonly name: string
  /** Creates the fault of a call while there is no thread. Of severity 'retry'. */
  readonly stopped: (reason: string, cause?: unknown) => Error
}

type Running<Link, Ready> = { readonly link: Link; readonly ready: Ready; readonly gone: Promise<void> }

/** Calls that every such thread answers. */
export type Closable = { close(): Promise<void> }

/** A thread that is started again when it ends; its end never ends the node. */
export class RestartedThread<There extends Answers<There> & Closable, Here extends Answers<Here>, Settings, Ready>
  implements AsyncDisposable
{
  readonly #deps: RestartedThreadDeps<Here>
  /** settings for the next start */
  settings: Settings
  #running: Running<ThreadLink<There, Here>, Ready> | undefined
  #restart: Disposable | undefined
  /** the newest thread, also while it begins */
  #worker: Worker | undefined
  #starting: Promise<void> = Promise.resolve()
  #failure: Error | undefined
  #isClosed = false

  private constructor(deps: RestartedThreadDeps<Here>, settings: Settings) {
    this.#deps = deps
    this.settings = settings
  }

  /** @throws Error of the thread when it cannot begin */
  static async start<There extends Answers<There> & Closable, Here extends Answers<Here>, Settings, Ready>(
    deps: RestartedThreadDeps<Here>,
    settings: Settings,
  ): Promise<RestartedThread<There, Here, Settings, Ready>> {
    const thread = new RestartedThread<There, Here, Settings, Ready>(deps, settings)
    await thread.#start()
    return thread
  }

  /** Returns the thread's report at its start; undefined: it has ended and is started again. */
  get ready(): Ready | undefined {
    return this.#running?.ready
  }

  /** Returns why the thread has ended; undefined: it runs. */
  get failure(): Error | undefined {
    return this.#running ? undefined : this.#failure
  }

  /** Calls the thread. The promise rejects with the fault `stopped` while there is none. */
  readonly ask: ThreadLink<There, Here>['ask'] = (name, ...args) =>
    this.#running
      ? this.#running.link.ask(name, ...args)
      : Promise.reject(this.#deps.stopped(errorMessage(this.#failure ?? new Error('not started'))))

  /** Sends a call without waiting for its result; lost while there is no thread. */
  readonly tell: ThreadLink<There, Here>['tell'] = (name, ...args) => this.#running?.link.tell(name, ...args)

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#restart?.[Symbol.dispose]()
    using _late = this.#deps.clock.after(endMs, () => void this.#worker?.terminate())
    await this.#starting
    const running = this.#running
    void running?.link.ask('close' as keyof There & string, ...([] as never)).catch(() => {})
    await running?.gone
  }

  async #start(): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    const { here, clock, log, entry, name } = this.#deps
    const worker = new Worker(entry, { workerData: { port: port2, settings: this.settings }, transferList: [port2], name, resourceLimits })
    this.#worker = worker
    const ready = Promise.withResolvers<Ready>()
    const gone = Promise.withResolvers<void>()
    const link = new ThreadLink<There, Here>({
      post: (message): void => port1.postMessage(message),
      here,
      onFailure: (error): void => log.warn(`request of the thread ${name} failed`, { error }),
    })
    port1.on('message', (message: FromThread<Ready>) => {
      if ('link' in message) link.receive(message.link)
      else if ('log' in message) writeLine(log, message.log)
      else if ('ready' in message) ready.resolve(message.ready)
      else ready.reject(restoreError(message.failure))
    })
    const ended = (error: Error): void => {
      ready.reject(error)
      link.end(error)
      if (this.#running?.link === link) this.#ended(error)
    }
    worker.once('error', (error) => ended(error instanceof Error ? error : new Error(String(error))))
    worker.once('exit', (code) => {
      ended(new Error(`the thread ${name} ended with code ${code}`))
      port1.close()
      gone.resolve()
    })
    try {
      this.#running = { link, ready: await ready.promise, gone: gone.promise }
    } catch (error) {
      // a socket or a timer that is left keeps the thread alive
      using _late = clock.after(failedMs, () => void worker.terminate())
      await gone.promise
      throw error
    }
  }

  #ended(error: Error): void {
    this.#running = undefined
    this.#failure = error
    if (this.#isClosed) return
    const { log, name, stopped } = this.#deps
    log.warn(`thread ${name} ended, starting again`, { error: stopped(error.message, error) })
    this.#planRestart()
  }

  #planRestart(): void {
    this.#restart = this.#deps.clock.after(restartMs, () => {
      this.#starting = this.#start().catch((error: Error) => {
        this.#failure = error
        if (!this.#isClosed) this.#planRestart()
      })
    })
  }
}

/** The thread's side. */
export type InThread<There extends Answers<There>, Here extends Answers<Here>, Settings> = {
  readonly settings: Settings
  readonly log: Log
  readonly link: ThreadLink<Here, There>
  /** Reports that the thread has begun. */
  ready(facts: unknown): void
  /** Reports why it cannot begin, and ends it. */
  failed(error: unknown): void
  /** Lets the thread end. */
  end(): void
}

/**
 * Connects a thread that `RestartedThread` has started with the main thread.
 * @param here calls that this thread answers
 * @param module of its log lines
 */
export function enterThread<There extends Answers<There>, Here extends Answers<Here>, Settings>(
  here: There,
  module: string,
): InThread<There, Here, Settings> {
  const { port, settings } = workerData as { readonly port: MessagePort; readonly settings: Settings }
  const send = (message: FromThread<unknown>): void => port.postMessage(message)
  const log = createTransferLog((line) => send({ log: line }), module)
  const link = new ThreadLink<Here, There>({
    post: (message): void => send({ link: message }),
    here,
    onFailure: (error): void => log.warn('request failed', { error }),
  })
  port.on('message', (message) => link.receive(message))
  return {
    settings,
    log,
    link,
    ready: (facts) => send({ ready: facts }),
    failed: (error): void => {
      send({ failure: transferError(error) })
      port.close()
    },
    end: () => port.close(),
  }
}
