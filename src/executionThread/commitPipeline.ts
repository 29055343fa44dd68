import { extname } from 'node:path'
import { type CommitRequest, writeRequest } from '#blockchain/commit/committer'
import type { Clock } from '#lib/clock'
import { type TransferredError, transferError } from '#lib/errorTransfer'
import type { DraftedWrite, DraftingKv } from '#store/lmdbKv'
import { type ThreadProgress, WaitedThread } from './waitedThread.ts'
import type { FromWriteThread, ToWriteThread, WriteThreadSettings } from './wire/commitRequests.ts'

/** Entry file of the thread that writes, with the extension of this file. */
const entry = new URL(`./writeThreadEntry${extname(import.meta.url)}`, import.meta.url)

/** Heap of the thread that writes: it holds no rows. */
const resourceLimits = { maxYoungGenerationSizeMb: 8 }

export type CommitPipelineDeps = {
  readonly kv: DraftingKv
  readonly clock: Clock
  /** counters of this thread, which the write thread moves too */
  readonly progress: ThreadProgress
  readonly onWait: () => void
  /** Called with each outcome, in the order of requests. */
  readonly onOutcome: (outcome: FromWriteThread) => void
}

/** A request whose rows were computed, in `ms`. */
type Computed = { readonly ms: number } & ({ readonly write: DraftedWrite } | { readonly error: TransferredError })

/**
 * Writes requests one after another. This thread does all of it until the write thread is started. From then on at most two requests are in progress: this
 * thread computes the rows of the second one, over those of the first one, while the write thread writes the first one. When the first one fails, the second
 * one fails with the same error.
 */
export class CommitPipeline implements AsyncDisposable {
  readonly #deps: CommitPipelineDeps
  readonly #thread: WaitedThread<ToWriteThread, FromWriteThread>
  /** request that the write thread writes */
  #writing: { readonly ms: number; readonly write: DraftedWrite } | undefined
  /** request that follows it */
  #next: Computed | undefined

  constructor(deps: CommitPipelineDeps, settings: WriteThreadSettings) {
    const { progress, onWait } = deps
    this.#deps = deps
    this.#thread = new WaitedThread({
      ...{ entry, name: 'basalt writes', settings, resourceLimits, progress, onWait },
      isWatched: settings.heartbeat !== undefined,
      onMessage: (outcome): void => this.#written(outcome),
      onFailure: (reason, cause): never => {
        throw new Error(reason, { cause })
      },
    })
  }

  /** Whether the rows of a request wait for the end of the one before it. */
  get hasNext(): boolean {
    return this.#next !== undefined
  }

  /** Starts the write thread, if nothing has done so. */
  start(): void {
    this.#thread.start()
  }

  /** Computes the rows of a request. They are written when those of the request before it are. */
  commit(request: CommitRequest): void {
    if (!this.#thread.isStarted) {
      this.#deps.onOutcome(this.#commitHere(request))
      return
    }
    const computed = this.#compute(request)
    if (this.#writing) this.#next = computed
    else this.#write(computed)
  }

  /** Waits until no request is in progress. */
  settle(): void {
    this.#thread.receive(() => this.#writing === undefined, true)
  }

  /** Waits until no request is in progress, and ends the write thread. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.settle()
    await this.#thread.close('close')
  }

  #commitHere(request: CommitRequest): FromWriteThread {
    const { kv, clock } = this.#deps
    const startMs = clock.elapsedMs()
    try {
      kv.write((tx) => writeRequest(tx, clock, request))
      return { ms: clock.elapsedMs() - startMs }
    } catch (error) {
      return { error: transferError(error) }
    }
  }

  #compute(request: CommitRequest): Computed {
    const { kv, clock } = this.#deps
    const startMs = clock.elapsedMs()
    try {
      const write = kv.draft((tx) => writeRequest(tx, clock, request), this.#writing?.write)
      return { ms: clock.elapsedMs() - startMs, write }
    } catch (error) {
      return { ms: clock.elapsedMs() - startMs, error: transferError(error) }
    }
  }

  #write(computed: Computed): void {
    if ('error' in computed) {
      this.#deps.onOutcome({ error: computed.error })
      return
    }
    this.#writing = computed
    const packed = computed.write.pack()
    this.#thread.send(packed, [packed.buffer])
  }

  #written(outcome: FromWriteThread): void {
    const { onOutcome } = this.#deps
    const ms = this.#writing?.ms ?? 0
    this.#writing = undefined
    onOutcome('error' in outcome ? outcome : { ms: ms + outcome.ms })
    const next = this.#next
    this.#next = undefined
    if (next === undefined) return
    if ('error' in outcome) onOutcome(outcome)
    else this.#write(next)
  }
}
