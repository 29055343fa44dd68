import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { executionFault } from '#block/faults'
import type { CommitOutcome, CommitRequest, Committer } from '#blockchain/commit/committer'
import type { PruneEvent } from '#blockchain/pruning/pruner'
import type { Retention } from '#blockchain/pruning/retention'
import { restoreError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import { CommitProgress, type FromCommitThread, packCommit, type ToCommitThread } from './wire/commitRequests.ts'

/** Time between two looks at a thread that is waited for. */
const lookMs = 1_000
/** Looks without a written row after which the thread counts as stuck. Looks are counted instead of time: a machine that slept stops nothing. */
const stuckLooks = 60

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./commitThreadEntry${extname(import.meta.url)}`, import.meta.url)

/**
 * Writes transactions in a thread of its own. It is never terminated: inside a transaction of lmdb that would leave a lock that the process waits for at
 * its end. Disposing waits until the thread has ended.
 */
export class CommitThread implements Committer, AsyncDisposable {
  readonly #port: MessagePort
  readonly #progress = new CommitProgress()
  readonly #gone = Promise.withResolvers<void>()
  #outcome: CommitOutcome | undefined
  /** Fault of a thread that ended by itself */
  #failure: Error | undefined
  #isRunning = false
  #onOutcome: () => void = () => {}
  #onPruned: (event: PruneEvent) => void = () => {}

  /** @param dir of tables that this process has open as their writer */
  constructor(dir: string) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const workerData = { dir, port: port2, progress: this.#progress.memory }
    const worker = new Worker(entry, { workerData, transferList: [port2], name: 'basalt commits' })
    port1.on('message', (message: FromCommitThread) => this.#arrived(message))
    worker.once('error', (error) => this.#fail(errorMessage(error), error))
    worker.once('exit', (code) => {
      this.#fail(`its commit thread ended with code ${code}`)
      port1.close()
      this.#gone.resolve()
    })
  }

  begin(request: CommitRequest): void {
    this.#isRunning = true
    if (this.#failure) this.#outcome = { error: this.#failure }
    else this.#send({ kind: 'commit', request: packCommit(request) })
  }

  take(wait: boolean): CommitOutcome | undefined {
    let looks = 0
    for (let rows = this.#progress.rows; this.#isRunning && this.#outcome === undefined; looks++) {
      const seen = this.#progress.answers
      const received = receiveMessageOnPort(this.#port) as { message: FromCommitThread } | undefined
      if (received) this.#take(received.message)
      else if (!wait) return undefined
      else if (looks >= stuckLooks) this.#fail('its commit thread gives no sign of life')
      else this.#progress.wait(seen, lookMs)
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
    this.#send({ kind: 'prune', retention })
    // the thread ends it with its last request
    return { [Symbol.dispose](): void {} }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#send({ kind: 'close' })
    await this.#gone.promise
  }

  #send(message: ToCommitThread): void {
    this.#port.postMessage(message)
  }

  #arrived(message: FromCommitThread): void {
    this.#take(message)
    if (this.#outcome) this.#onOutcome()
  }

  #take(message: FromCommitThread): void {
    if (!('pruned' in message)) this.#outcome = 'error' in message ? { error: restoreError(message.error) } : message
    else this.#onPruned('error' in message.pruned ? { error: restoreError(message.pruned.error) } : message.pruned)
  }

  #fail(reason: string, cause?: unknown): void {
    this.#failure ??= executionFault('EXECUTION_STOPPED', { reason }, cause)
    if (!this.#isRunning || this.#outcome) return
    this.#outcome = { error: this.#failure }
    this.#onOutcome()
  }
}
