import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { FetchedState } from '#state/fetchedState'
import { requireFreeSpace } from '#store/freeSpace'
import type { Kv, KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { type BlockLoad, noLoad, treeShareAt } from '../blockTree.ts'
import type { Branch } from '../branch.ts'
import { readHead } from '../chainStore.ts'
import type { ExecutionOptions } from '../executionDeps.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import type { PruneEvent, PruneStep } from '../pruning/pruner.ts'
import type { StageTimes } from '../stageTimes.ts'
import { SharedSnapshot } from '../view/sharedSnapshot.ts'
import { CommitPace } from './commitPace.ts'
import { type CommitSlice, labelsAfter, nextSlice } from './commitSlice.ts'
import { type CommitOutcome, type CommitRequest, type Committer, createCommitter } from './committer.ts'

/** Bounds of uncommitted blocks. */
export const commitBounds = {
  afterMs: 2_000, // longest time between publication and the start of a commit
  journalBytes: 64 * 2 ** 20,
  replacedBlocks: 64, // in the store: a state far below its head is slow to read
  unwindWaitMs: 1_000, // longest wait of a new block for their removal, which may take minutes
  closeMs: 10_000, // time in which closing begins transactions; the next start restores the rest
}

/** The published record, the sequence of its heads, and the load of its uncommitted blocks. */
export type Published = { readonly record: HeadRecord; readonly sequence: number; readonly load: BlockLoad }

/** A finished transaction: the head in the store, the youngest block of the published chain in it, and the sequence of the heads if it ended a round. */
export type Committed = { readonly head: BlockId; readonly base: BlockId; readonly roundSequence: number | undefined }

export type CommitDeps = {
  readonly kv: Kv
  /** absent: this thread writes the transactions */
  readonly committer?: Committer
  readonly clock: Clock
  readonly stages?: StageTimes
  readonly log: Log
  /** tightens the bound of blocks in memory; absent: it is fixed */
  readonly memory?: Pick<MemoryGuard, 'onChange'>
  readonly onCommit?: (phase: 'begin' | 'end') => void
  readonly published: () => Published
  readonly sizeOf: (block: ExecutedBlock) => number
  readonly loadOf: (blocks: readonly ExecutedBlock[]) => BlockLoad
  /** called before each transaction with the number of blocks that it unwinds */
  readonly onCommitting: (unwound: number) => void
  /** called after each transaction */
  readonly onCommitted: (done: Committed) => void
  /** called after each step that removed older states */
  readonly onPruned?: (step: PruneStep) => void
  /** called after rows changed without a new record: snapshots of the published record do not show it, and hold pages that were freed */
  readonly onRowsChanged: () => void
}

export type CommitOptions = Pick<Required<ExecutionOptions>, 'minFreeBytes' | 'maxTreeBytes' | 'maxUncommittedMs' | 'commitSliceMs'> &
  Pick<ExecutionOptions, 'retention'>

/** The heads that a round of transactions commits. */
type Goal = { readonly heads: Heads; readonly sequence: number }

/** Parts of the state that wait for a transaction, and their caller. */
type Entry = { readonly parts: FetchedState; readonly done: PromiseWithResolvers<void> }

/** A transaction that the committer writes. */
type Running = { readonly goal: Goal; readonly slice: CommitSlice }

/**
 * Commits published blocks in the background: `afterMs` after they were published, at once when a start would take too long to restore them, and, before
 * a new block beyond that bound, as many as are needed to return below it. A round of transactions writes the blocks up to the heads published at its
 * begin, a few whole blocks each, and the thread does other work in between. Heads published meanwhile belong to the next round. Until the last
 * transaction of a round the store keeps the sequence of its previous heads, so a start restores the later ones from the journal. Before the blocks of
 * another branch, transactions unwind a few blocks each. When the disk is full it writes nothing and retries by itself.
 *
 * The committer may write in another thread. Then a call waits for a transaction only if the blocks that it leaves are at the bound.
 */
export class CommitBehind {
  readonly #deps: CommitDeps
  readonly #opts: CommitOptions
  #maxTreeBytes: number
  readonly #committer: Committer
  readonly #pace: CommitPace
  readonly #pruning: Disposable | undefined
  readonly #levels: Disposable | undefined
  /** sequence of the heads in the store */
  #sequence: number
  #goal: Goal | undefined
  /** time since which published heads wait for a round */
  #sinceMs: number | undefined
  #running: Running | undefined
  /** the store before the transaction that the committer writes */
  #before: SharedSnapshot | undefined
  /** parts of the state that wait for a transaction */
  #entries: readonly Entry[] = []
  /** parts that the committer writes */
  #entering: readonly Entry[] | undefined
  #timer: Disposable | undefined
  /** error that ended all commits */
  #failure: unknown
  #isWarned = false

  /** @param sequence of the committed heads */
  constructor(deps: CommitDeps, sequence: number, opts: CommitOptions) {
    this.#deps = deps
    this.#sequence = sequence
    this.#opts = opts
    this.#maxTreeBytes = opts.maxTreeBytes
    this.#pace = new CommitPace(opts.commitSliceMs)
    this.#committer = deps.committer ?? createCommitter(deps.kv, deps.clock)
    this.#levels = deps.memory?.onChange((level) => this.#limitTree(treeShareAt[level]))
    this.#committer.onOutcome(() => this.#attempt(() => this.#take(false)))
    this.#pruning = opts.retention && this.#committer.prune(opts.retention, (event) => this.#pruned(event))
  }

  /**
   * Returns a snapshot of the store that matches the published record. Readers can see a transaction before the committer reports its end: until then,
   * returns the snapshot taken before it.
   */
  snapshot(): KvReader & Disposable {
    for (;;) {
      const reader = this.#deps.kv.snapshot()
      if (this.#running === undefined || readHead(reader)?.hash !== this.#running.slice.head.hash) return reader
      reader[Symbol.dispose]()
      this.#attempt(() => this.#take(false))
      const before = this.#before
      before?.enter()
      if (before) return before
    }
  }

  /**
   * Waits for the transaction in progress unless a branch continues it: each published record must contain the head of the store, before and after the
   * transaction. While it only unwinds, all branches from the same block contain it.
   * @returns whether it waited
   */
  settleUnless({ ancestor, blocks }: Branch): boolean {
    const slice = this.#running?.slice
    if (slice === undefined || blocks.some(({ hash }) => hash === slice.head.hash)) return false
    if (slice.blocks.length === 0 && slice.base.hash === ancestor.hash) return false
    this.settle()
    return true
  }

  /** Waits for the transaction in progress, if there is one. */
  settle(): void {
    if (this.#isBusy) this.#attempt(() => this.#take(true))
  }

  /**
   * Adds parts to a partial state, in a transaction without blocks.
   * @returns when readers see them. Rejects as `run` throws; the parts are dropped then
   */
  async enter(parts: FetchedState): Promise<void> {
    this.#requireSound()
    const done = Promise.withResolvers<void>()
    this.#entries = [...this.#entries, { parts, done }]
    if (!this.#isBusy) this.#schedule(0)
    return done.promise
  }

  /** Called after heads were published. */
  onPublished(): void {
    this.#sinceMs ??= this.#deps.clock.elapsedMs()
    if (this.#goal === undefined && !this.#isBusy) this.#schedule(this.#isAtBound() ? 0 : commitBounds.afterMs)
  }

  /** Bounds the blocks in memory; beyond it a new block waits for commits. */
  #limitTree(share: number): void {
    this.#maxTreeBytes = this.#opts.maxTreeBytes * share
    if (this.#isPending && !this.#isBusy && this.#isAtBound()) this.#schedule(0)
  }

  /**
   * Commits until there is room for a new block.
   * @throws Fault DISK_LOW, REORG_UNFINISHED (retry); the error of a commit without which there is no room
   */
  makeRoom(): void {
    const { clock, kv, published } = this.#deps
    this.#requireSound()
    requireFreeSpace(kv, this.#opts.minFreeBytes)
    const untilMs = clock.elapsedMs() + commitBounds.unwindWaitMs
    while (this.#isPending && this.#isAtBound()) {
      this.#attemptOrThrow()
      const left = replacedBlocks(published().record)
      if (left > 0 && clock.elapsedMs() > untilMs) throw executionFault('REORG_UNFINISHED', { left })
    }
  }

  /**
   * Commits all published blocks now.
   * @param maxMs time in which it begins transactions
   * @returns whether all are committed
   * @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal); blocks that were not written stay readable
   */
  run(maxMs = Number.POSITIVE_INFINITY): boolean {
    const { clock } = this.#deps
    if (this.#isPending) this.#requireSound()
    const untilMs = clock.elapsedMs() + maxMs
    while (this.#isPending && clock.elapsedMs() <= untilMs) this.#attemptOrThrow()
    this.settle()
    return !this.#isPending
  }

  /** Ends timers, pruning, and the reaction to memory that is short. */
  stop(): void {
    this.#clearTimer()
    this.#levels?.[Symbol.dispose]()
    this.#pruning?.[Symbol.dispose]()
  }

  #clearTimer(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  #pruned(event: PruneEvent): void {
    const { log, onPruned, onRowsChanged } = this.#deps
    if ('error' in event) {
      const { error } = event
      if (isFault(error, 'SEGMENT_DAMAGED')) log.warn('segment file damaged, more states than configured may stay', { error })
      else log.error('older states not removed', { error })
      return
    }
    onPruned?.(event)
    if (event.isLast) onRowsChanged()
  }

  get #isPending(): boolean {
    return this.#isBusy || this.#entries.length > 0 || this.#goal !== undefined || this.#sinceMs !== undefined
  }

  get #isBusy(): boolean {
    return this.#running !== undefined || this.#entering !== undefined
  }

  #isAtBound(): boolean {
    const running = this.#running ? this.#deps.loadOf(this.#running.slice.blocks) : noLoad
    const { load, record } = this.#deps.published()
    if (replacedBlocks(record) > commitBounds.replacedBlocks) return true
    const ms = load.ms - running.ms
    const journalBytes = load.journalBytes - running.journalBytes
    // with a commit thread, waiting blocks and blocks being written get half of the bound each
    const maxMs = this.#opts.maxUncommittedMs / (this.#deps.committer ? 2 : 1)
    // blocks being written are in memory too
    return ms >= maxMs || journalBytes >= commitBounds.journalBytes || load.sizeBytes >= this.#maxTreeBytes / 2
  }

  #schedule(afterMs: number): void {
    if (this.#failure !== undefined || (this.#timer && afterMs > 0)) return
    this.#clearTimer()
    this.#timer = this.#deps.clock.after(afterMs, () => {
      this.#timer = undefined
      if (!this.#isBusy) this.#attempt(() => this.#begin())
    })
  }

  /** Ends the transaction in progress, or begins one, which may end at once. */
  #attemptOrThrow(): void {
    const failure = this.#attempt(() => (this.#isBusy ? this.#take(true) : this.#begin()))
    if (failure) throw failure.error
  }

  /** Runs a step of a transaction. Retries later when the disk is full; any other error ends all commits. EXECUTION_STOPPED is not logged here: the node reports it. */
  #attempt(step: () => void): { readonly error: unknown } | undefined {
    const { log } = this.#deps
    try {
      step()
      return undefined
    } catch (error) {
      const canRetry = isFault(error) && error.severity === 'retry'
      if (!isFault(error, 'EXECUTION_STOPPED') && !(this.#isWarned && canRetry)) log.error('commit failed', { error, willRetry: canRetry })
      this.#isWarned = true
      this.#clearTimer()
      this.#refuseEntries(error)
      if (canRetry) this.#schedule(commitBounds.afterMs)
      else this.#failure = error
      return { error }
    }
  }

  #beginEntries(): void {
    this.#entering = this.#entries
    this.#entries = []
    this.#committer.begin({ fetched: this.#entering.map(({ parts }) => parts) })
    this.#take(false)
  }

  #endEntries(entering: readonly Entry[], outcome: CommitOutcome): void {
    if ('error' in outcome) throw outcome.error
    this.#entering = undefined
    this.#deps.onRowsChanged()
    for (const { done } of entering) done.resolve()
    this.#scheduleNext()
  }

  #refuseEntries(error: unknown): void {
    const refused = [...(this.#entering ?? []), ...this.#entries]
    this.#entering = undefined
    this.#entries = []
    for (const { done } of refused) done.reject(error)
  }

  #begin(): void {
    const { kv, onCommit, published, onCommitting } = this.#deps
    requireFreeSpace(kv, this.#opts.minFreeBytes)
    if (this.#entries.length > 0) {
      this.#beginEntries()
      return
    }
    const { record, sequence } = published()
    const goal = this.#goalIn(record, sequence)
    const slice = nextSlice(kv, record, goal.heads, this.#pace, this.#deps.sizeOf)
    onCommitting(slice.unwound)
    onCommit?.('begin')
    const running = { goal, slice }
    // heads that are stored already need only the steps after a transaction
    if (goal.sequence === this.#sequence) {
      this.#end(running, { ms: 0 })
      return
    }
    const isWhole = slice.head.hash === goal.heads.unsafe.hash
    const request: CommitRequest = {
      committed: record.committed,
      branch: { ancestor: slice.blocks.length > 0 ? record.base : slice.head, blocks: slice.blocks },
      heads: isWhole ? goal.heads : labelsAfter(slice, goal.heads),
      sequence: isWhole ? goal.sequence : this.#sequence,
    }
    this.#before = new SharedSnapshot(kv.snapshot())
    this.#running = running
    this.#committer.begin(request)
    this.#take(false)
  }

  /** Takes the outcome of the transaction in progress, if there is one. */
  #take(wait: boolean): void {
    const [running, entering] = [this.#running, this.#entering]
    const outcome = running || entering ? this.#committer.take(wait) : undefined
    if (outcome === undefined) return
    this.#running = undefined
    this.#before?.retire()
    this.#before?.[Symbol.dispose]()
    this.#before = undefined
    if (entering) this.#endEntries(entering, outcome)
    else if (running) this.#end(running, outcome)
  }

  #end({ goal, slice }: Running, outcome: CommitOutcome): void {
    const { log, onCommit, onCommitted, sizeOf, stages } = this.#deps
    if ('error' in outcome) throw outcome.error
    onCommit?.('end')
    const { ms } = outcome
    const { head, base, blocks, unwound } = slice
    stages?.add('commit', ms)
    if (unwound === 0) this.#pace.took(ms, blocks.map(sizeOf))
    else this.#pace.unwound(ms, unwound, head.hash === base.hash)
    const isWhole = head.hash === goal.heads.unsafe.hash
    if (isWhole) {
      this.#sequence = goal.sequence
      this.#goal = undefined
    }
    if (this.#isWarned) log.info('commits resumed')
    this.#isWarned = false
    log.debug('committed', { ...head, added: blocks.length, unwound, ms })
    onCommitted({ head, base, roundSequence: isWhole ? goal.sequence : undefined })
    this.#scheduleNext()
  }

  /** Returns the heads that the current round commits: those at its start while they are ahead on the published chain, else the published heads. */
  #goalIn(record: HeadRecord, sequence: number): Goal {
    const { committed, base, overlays, heads } = record
    const unsafe = this.#goal?.heads.unsafe
    const onTheWay = unsafe && (unsafe.hash === base.hash || overlays[unsafe.number - base.number - 1]?.hash === unsafe.hash)
    if (this.#goal && onTheWay && base.hash === committed.hash) return this.#goal
    this.#sinceMs = undefined
    this.#goal = { heads, sequence }
    return this.#goal
  }

  #scheduleNext(): void {
    this.#clearTimer()
    if (this.#goal || this.#entries.length > 0) this.#schedule(0)
    else if (this.#sinceMs !== undefined) {
      const waitedMs = this.#deps.clock.elapsedMs() - this.#sinceMs
      this.#schedule(this.#isAtBound() ? 0 : Math.max(0, commitBounds.afterMs - waitedMs))
    }
  }

  #requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Returns the number of blocks in the store that the published chain does not have. */
const replacedBlocks = ({ committed, base }: HeadRecord): number => committed.number - base.number
