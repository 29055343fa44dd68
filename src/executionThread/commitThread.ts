import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import type { CommitOutcome, CommitRequest, Committer } from '#blockchain/commit/committer'
import type { PruneEvent } from '#blockchain/pruning/pruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import { restoreError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import type { LogLine } from '#lib/logTransfer'
import type { HeartbeatSettings } from '#lib/supervisor'
import type { Retention } from '#types/chainDistance'
import type { MovingSettings } from './moving.ts'
import { CommitProgress, type CommitThreadSettings, type FromCommitThread, packCommit, type ToCommitThread } from './wire/commitRequests.ts'
import { type PackedBlock, packBlock } from './wire/packedBlocks.ts'

/** Interval between checks of the thread while this thread waits. */
const lookMs = 1_000
/** Checks without a written row after which the thread counts as stuck. Checks are counted, not time, because time passes while the machine sleeps. */
const stuckLooks = 60

/** Young generation of the thread's heap. A larger one saves no time: rows live as long as their transaction. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./commitThreadEntry${extname(import.meta.url)}`, import.meta.url)

export type CommitThreadOptions = {
  /** present: the parent process watches the thread, and ends this process when the thread is stuck */
  readonly heartbeat?: HeartbeatSettings
  /** present: the thread moves finalized rows to segment files between requests */
  readonly moving?: MovingSettings
  /** bound of the anonymous memory of the process; absent: none */
  readonly memoryMaxBytes?: number
  /** Called after each step of moving. */
  readonly onMoved?: (step: MoverStep) => void
  /** Called with each line that the thread logs. */
  readonly onLog?: (line: LogLine) => void
  /** Packs a block; absent: `packBlock`. */
  readonly pack?: (block: ExecutedBlock) => PackedBlock
  /** Called once a second at least while this thread waits for the other one. */
  readonly onWait?: () => void
  /** Called with EXECUTION_STOPPED when the thread ended by itself. */
  readonly onFailure?: (error: Error) => void
}

/**
 * Writes transactions in a thread of its own. It is never terminated: inside a transaction of lmdb that would leave a lock that the process waits for at
 * its end. Disposing waits until the thread has ended.
 */
export class CommitThread implements Committer, AsyncDisposable {
  readonly #dir: string
  readonly #options: CommitThreadOptions
  readonly #progress = new CommitProgress()
  readonly #gone = Promise.withResolvers<void>()
  #port: MessagePort | undefined
  #outcome: CommitOutcome | undefined
  /** Fault of a thread that ended by itself */
  #failure: Error | undefined
  #isRunning = false
  #isClosing = false
  #onOutcome: () => void = () => {}
  #onPruned: (event: PruneEvent) => void = () => {}
  #retention: Retention | undefined

  /** @param dir of tables that this process has open as their writer */
  constructor(dir: string, options: CommitThreadOptions = {}) {
    this.#dir = dir
    this.#options = options
  }

  /** Starts the thread, if the first request has not done so. */
  start(): void {
    this.#startedPort()
  }

  begin(request: CommitRequest): void {
    this.#isRunning = true
    if (this.#failure) this.#outcome = { error: this.#failure }
    else this.#send(this.#startedPort(), { kind: 'commit', request: packCommit(request, this.#options.pack ?? packBlock) })
  }

  take(wait: boolean): CommitOutcome | undefined {
    let looks = 0
    for (let rows = this.#progress.rows; this.#isRunning && this.#outcome === undefined; looks++) {
      const seen = this.#progress.answers
      const received = this.#port && (receiveMessageOnPort(this.#port) as { message: FromCommitThread } | undefined)
      if (received) this.#take(received.message)
      else if (!wait) return undefined
      else if (looks >= stuckLooks && !this.#options.heartbeat) this.#fail('its commit thread gives no sign of life')
      else this.#progress.wait(seen, lookMs)
      this.#options.onWait?.()
      if (this.#progress.rows !== rows) looks = 0
      rows = this.#progress.rows
    }
    const taken = this.#outcome
    this.#outcome = undefined
    this.#isRunning = false
    return taken
  }

  onOutcome(run: () => void): void {
    this.#onOutcome = run
  }

  prune(retention: Retention, onEvent: (event: PruneEvent) => void): Disposable {
    this.#onPruned = onEvent
    this.#retention = retention
    if (this.#port) this.#send(this.#port, { kind: 'prune', retention })
    // the thread ends it with its last request
    return { [Symbol.dispose](): void {} }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#port === undefined) return
    this.#isClosing = true
    this.#send(this.#port, { kind: 'close' })
    await this.#gone.promise
  }

  #startedPort(): MessagePort {
    if (this.#port) return this.#port
    const { port1, port2 } = new MessageChannel()
    const { heartbeat, moving, memoryMaxBytes } = this.#options
    const workerData: CommitThreadSettings = {
      ...{ dir: this.#dir, port: port2, progress: this.#progress.memory },
      ...(moving && { moving }),
      ...(memoryMaxBytes !== undefined && { memoryMaxBytes }),
      ...(heartbeat && { heartbeat }),
    }
    const worker = new Worker(entry, { workerData, transferList: [port2], name: 'basalt commits', resourceLimits })
    port1.on('message', (message: FromCommitThread) => this.#arrived(message))
    worker.once('error', (error) => this.#fail(errorMessage(error), error))
    worker.once('exit', (code) => {
      if (!this.#isClosing) this.#fail(`its commit thread ended with code ${code}`)
      port1.close()
      this.#gone.resolve()
    })
    this.#port = port1
    if (this.#retention) this.#send(port1, { kind: 'prune', retention: this.#retention })
    return port1
  }

  #send(port: MessagePort, message: ToCommitThread): void {
    port.postMessage(message)
  }

  #arrived(message: FromCommitThread): void {
    this.#take(message)
    if (this.#outcome) this.#onOutcome()
  }

  #take(message: FromCommitThread): void {
    if ('moved' in message) this.#options.onMoved?.(message.moved)
    else if ('log' in message) this.#options.onLog?.(message.log)
    else if (!('pruned' in message)) this.#outcome = 'error' in message ? { error: restoreError(message.error) } : message
    else this.#onPruned('error' in message.pruned ? { error: restoreError(message.pruned.error) } : message.pruned)
  }

  #fail(reason: string, cause?: unknown): void {
    if (this.#failure) return
    this.#failure = executionFault('EXECUTION_STOPPED', { reason }, cause)
    this.#options.onFailure?.(this.#failure)
    if (!this.#isRunning || this.#outcome) return
    this.#outcome = { error: this.#failure }
    this.#onOutcome()
  }
}
