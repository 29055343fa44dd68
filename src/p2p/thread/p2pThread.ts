import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { restoreError, type TransferredError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { type LogLine, writeLine } from '#lib/logTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { Address } from '#types/ids'
import { p2pFault } from '../faults.ts'
import type { OfMainThread, OfP2pThread, P2pListening, P2pSettings } from './protocol.ts'

/** Messages of the thread; those of the link are in `link`. */
export type FromP2pThread =
  | { readonly ready: P2pListening }
  | { readonly failure: TransferredError }
  | { readonly link: unknown }
  | { readonly log: LogLine }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./threadEntry${extname(import.meta.url)}`, import.meta.url)

/** Bounds of the thread's heap: what peers send must not take the memory of the node. */
const resourceLimits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 32 }
const restartMs = 5_000

export type P2pThreadDeps = { readonly clock: Clock; readonly log: Log; readonly here: Omit<OfMainThread, 'log'> }

type Link = ThreadLink<OfP2pThread, Omit<OfMainThread, 'log'>>
type Running = { readonly link: Link; readonly listening: P2pListening; readonly gone: Promise<void> }

/** The consensus network in a thread of its own. A thread that ends is started again; its end never ends the node. */
export class P2pThread implements AsyncDisposable {
  readonly #deps: P2pThreadDeps
  #settings: P2pSettings
  #running: Running | undefined
  #restart: Disposable | undefined
  #failure: Error | undefined
  #isClosed = false

  private constructor(deps: P2pThreadDeps, settings: P2pSettings) {
    this.#deps = deps
    this.#settings = settings
  }

  /** @throws Fault P2P_PORT, P2P_PEER (fatal) when the network cannot be joined at the start */
  static async start(deps: P2pThreadDeps, settings: P2pSettings): Promise<P2pThread> {
    const thread = new P2pThread(deps, settings)
    await thread.#start()
    return thread
  }

  /** Returns where the thread listens; undefined: it has ended and is started again. */
  get listening(): P2pListening | undefined {
    return this.#running?.listening
  }

  /** Returns why the thread has ended; undefined: it runs. */
  get failure(): Error | undefined {
    return this.#running ? undefined : this.#failure
  }

  /** Calls the thread. The promise rejects with P2P_STOPPED (retry) while there is none. */
  readonly ask: Link['ask'] = (name, ...args) => {
    const reason = errorMessage(this.#failure ?? 'not started')
    return this.#running ? this.#running.link.ask(name, ...args) : Promise.reject(p2pFault('P2P_STOPPED', { reason }))
  }

  /** Sets the unsafe block signer, now and for a thread that is started again. */
  setSigner(signer: Address): void {
    this.#settings = { ...this.#settings, signer }
    this.#running?.link.tell('setSigner', signer)
  }

  blame(number: number): void {
    this.#running?.link.tell('blame', number)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#restart?.[Symbol.dispose]()
    const running = this.#running
    running?.link.tell('close')
    await running?.gone
  }

  async #start(): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    const { here, log } = this.#deps
    const workerData = { port: port2, settings: this.#settings }
    const worker = new Worker(entry, { workerData, transferList: [port2], name: 'basalt p2p', resourceLimits })
    const ready = Promise.withResolvers<P2pListening>()
    const gone = Promise.withResolvers<void>()
    const link: Link = new ThreadLink({
      post: (message) => port1.postMessage(message),
      here,
      onFailure: (error) => log.warn('request of the p2p thread failed', { error }),
    })
    port1.on('message', (message: FromP2pThread) => {
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
      ended(new Error(`the p2p thread ended with code ${code}`))
      port1.close()
      gone.resolve()
    })
    try {
      this.#running = { link, listening: await ready.promise, gone: gone.promise }
    } catch (error) {
      await gone.promise
      throw error
    }
  }

  #ended(error: Error): void {
    this.#running = undefined
    this.#failure = error
    if (this.#isClosed) return
    this.#deps.log.warn('p2p thread ended, starting again', { error: p2pFault('P2P_STOPPED', { reason: error.message }, error) })
    this.#planRestart()
  }

  #planRestart(): void {
    this.#restart = this.#deps.clock.after(restartMs, () => {
      this.#start().catch((error: Error) => {
        this.#failure = error
        if (!this.#isClosed) this.#planRestart()
      })
    })
  }
}
