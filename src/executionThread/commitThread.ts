import { extname } from 'node:path'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import type { CommitOutcome, CommitRequest, Committer } from '#blockchain/commit/committer'
import type { PruneEvent } from '#blockchain/pruning/pruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import { restoreError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { Retention } from '#types/chainDistance'
import type { MovingSettings } from './moving.ts'
import { WaitedThread } from './waitedThread.ts'
import {
  type CommitHeartbeats,
  type CommitThreadSettings,
  type FromCommitThread,
  packCommit,
  type ToCommitThread,
} from './wire/commitRequests.ts'
import { type PackedBlock, packBlock } from './wire/packedBlocks.ts'

/** Young generation of the thread's heap. A larger one saves no time: rows live as long as their transaction. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./commitThreadEntry${extname(import.meta.url)}`, import.meta.url)

export type CommitThreadOptions = {
  /** present: the parent process watches the threads, and ends this process when one is stuck */
  readonly heartbeats?: CommitHeartbeats
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
 * Writes transactions in threads of their own: one computes the rows of a request while another one, which the first second request starts, writes those of
 * the request before it. Disposing waits until requests in progress are written and the threads have ended.
 */
export class CommitThread implements Committer, AsyncDisposable {
  readonly mostInProgress = 2
  readonly #options: CommitThreadOptions
  readonly #thread: WaitedThread<ToCommitThread, FromCommitThread>
  /** requests without a taken outcome */
  #inProgress = 0
  readonly #outcomes: CommitOutcome[] = []
  /** Fault of a thread that ended by itself */
  #failure: Error | undefined
  #onOutcome: () => void = () => {}
  #onPruned: (event: PruneEvent) => void = () => {}
  #retention: Retention | undefined
  /** whether `take` receives messages */
  #isTaking = false

  /** @param dir of tables that this process has open as their writer */
  constructor(dir: string, options: CommitThreadOptions = {}) {
    const { heartbeats, moving, memoryMaxBytes, onWait = (): void => {} } = options
    const settings: CommitThreadSettings = {
      dir,
      ...(moving && { moving }),
      ...(memoryMaxBytes !== undefined && { memoryMaxBytes }),
      ...(heartbeats && { heartbeats }),
    }
    this.#options = options
    this.#thread = new WaitedThread({
      ...{ entry, name: 'basalt commits', settings, resourceLimits, isWatched: heartbeats !== undefined, onWait },
      onMessage: (message): void => this.#arrived(message),
      onFailure: (reason, cause): void => this.#fail(reason, cause),
    })
  }

  /** Starts the thread, if the first request has not done so. */
  start(): void {
    if (this.#thread.isStarted) return
    this.#thread.start()
    if (this.#retention) this.#thread.send({ kind: 'prune', retention: this.#retention })
  }

  begin(request: CommitRequest): void {
    const isSecond = this.#inProgress++ > 0
    if (this.#failure) {
      this.#outcomes.push({ error: this.#failure })
      return
    }
    this.start()
    this.#thread.send({ kind: 'commit', request: packCommit(request, this.#options.pack ?? packBlock), isSecond })
  }

  take(wait: boolean): CommitOutcome | undefined {
    this.#isTaking = true
    try {
      this.#thread.receive(() => this.#outcomes.length > 0 || this.#inProgress === 0, wait)
    } finally {
      this.#isTaking = false
    }
    const taken = this.#outcomes.shift()
    if (taken) this.#inProgress--
    return taken
  }

  onOutcome(run: () => void): void {
    this.#onOutcome = run
  }

  prune(retention: Retention, onEvent: (event: PruneEvent) => void): Disposable {
    this.#onPruned = onEvent
    this.#retention = retention
    if (this.#thread.isStarted) this.#thread.send({ kind: 'prune', retention })
    // the thread ends it with its last request
    return { [Symbol.dispose](): void {} }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread.close({ kind: 'close' })
  }

  #arrived(message: FromCommitThread): void {
    if ('moved' in message) this.#options.onMoved?.(message.moved)
    else if ('log' in message) this.#options.onLog?.(message.log)
    else if ('pruned' in message) this.#onPruned('error' in message.pruned ? { error: restoreError(message.pruned.error) } : message.pruned)
    // the failure was the outcome of each request
    else if (!this.#failure) this.#ended('error' in message ? { error: restoreError(message.error) } : message)
  }

  #ended(...outcomes: readonly CommitOutcome[]): void {
    this.#outcomes.push(...outcomes)
    if (outcomes.length > 0 && !this.#isTaking) this.#onOutcome()
  }

  #fail(reason: string, cause?: unknown): void {
    if (this.#failure) return
    const error = executionFault('EXECUTION_STOPPED', { reason }, cause)
    this.#failure = error
    this.#options.onFailure?.(error)
    this.#ended(...Array.from({ length: this.#inProgress - this.#outcomes.length }, () => ({ error })))
  }
}
