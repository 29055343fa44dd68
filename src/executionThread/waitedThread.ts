import {
  MessageChannel,
  type MessagePort,
  type ResourceLimits,
  receiveMessageOnPort,
  type TransferListItem,
  Worker,
} from 'node:worker_threads'
import { errorMessage } from '#lib/fault'

/** Time between two looks at a thread that is waited for. */
const lookMs = 1_000
/** Looks without a written row after which the thread counts as stuck. Looks are counted instead of time: a machine that slept stops nothing. */
const stuckLooks = 60

/** Counters of a thread in shared memory, for a thread that waits for it without an event loop. */
export class ThreadProgress {
  readonly memory: SharedArrayBuffer
  readonly #counts: Int32Array

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(8)) {
    this.memory = memory
    this.#counts = new Int32Array(memory)
  }

  get answers(): number {
    return Atomics.load(this.#counts, 0)
  }

  get rows(): number {
    return Atomics.load(this.#counts, 1)
  }

  /** Called before each row. */
  row(): void {
    Atomics.add(this.#counts, 1, 1)
  }

  /** Called after an answer was sent. */
  answered(): void {
    Atomics.add(this.#counts, 0, 1)
    Atomics.notify(this.#counts, 0)
  }

  /** Waits until there are more answers than `seen`, for a limited time. */
  wait(seen: number, maxMs: number): void {
    Atomics.wait(this.#counts, 0, seen, maxMs)
  }
}

export type WaitedThreadOptions<From> = {
  readonly entry: URL
  readonly name: string
  /** Data of the thread, which has `port` and `progress` beside them. */
  readonly settings: object
  readonly resourceLimits: ResourceLimits
  /** Whether the parent process ends this process when the thread is stuck. */
  readonly isWatched: boolean
  /** Counters that the thread has in common with others. Absent: its own. */
  readonly progress?: ThreadProgress
  readonly onMessage: (message: From) => void
  /** Called once a second at least while this thread waits for the other one. */
  readonly onWait: () => void
  /** Called when the thread ended by itself, or is stuck. */
  readonly onFailure: (reason: string, cause?: unknown) => void
}

/**
 * Thread that writes to lmdb. It answers in order, and another thread can wait for its answers without an event loop. It is never terminated: inside a
 * transaction of lmdb that would leave a lock that the process waits for at its end.
 */
export class WaitedThread<To, From> {
  readonly #options: WaitedThreadOptions<From>
  readonly #progress: ThreadProgress
  readonly #gone = Promise.withResolvers<void>()
  #port: MessagePort | undefined
  #isClosing = false

  constructor(options: WaitedThreadOptions<From>) {
    this.#options = options
    this.#progress = options.progress ?? new ThreadProgress()
  }

  get isStarted(): boolean {
    return this.#port !== undefined
  }

  /** Starts the thread, if nothing has done so. */
  start(): MessagePort {
    if (this.#port) return this.#port
    const { port1, port2 } = new MessageChannel()
    const { entry, name, settings, resourceLimits, onMessage, onFailure } = this.#options
    const workerData = { ...settings, port: port2, progress: this.#progress.memory }
    const worker = new Worker(entry, { workerData, transferList: [port2], name, resourceLimits })
    port1.on('message', onMessage)
    worker.once('error', (error) => onFailure(errorMessage(error), error))
    worker.once('exit', (code) => {
      if (!this.#isClosing) onFailure(`its thread "${name}" ended with code ${code}`)
      port1.close()
      this.#gone.resolve()
    })
    this.#port = port1
    return port1
  }

  /** Sends a message. Starts the thread, if nothing has done so. */
  send(message: To, transfer: readonly TransferListItem[] = []): void {
    this.start().postMessage(message, transfer)
  }

  /**
   * Receives messages until the caller has what it needs.
   * @param wait blocks this thread until then, or until a failure; otherwise returns after the last message that has arrived
   */
  receive(isDone: () => boolean, wait: boolean): void {
    const { onMessage, onWait, onFailure, isWatched, name } = this.#options
    let looks = 0
    for (let rows = this.#progress.rows; !isDone(); looks++) {
      const seen = this.#progress.answers
      const received = this.#port && (receiveMessageOnPort(this.#port) as { message: From } | undefined)
      if (received) onMessage(received.message)
      else if (!wait) return
      else if (looks >= stuckLooks && !isWatched) onFailure(`its thread "${name}" gives no sign of life`)
      else this.#progress.wait(seen, lookMs)
      onWait()
      if (this.#progress.rows !== rows) looks = 0
      rows = this.#progress.rows
    }
  }

  /** Waits until the thread has ended. @param last message after which it ends by itself */
  async close(last: To): Promise<void> {
    if (this.#port === undefined) return
    this.#isClosing = true
    this.send(last)
    await this.#gone.promise
  }
}
