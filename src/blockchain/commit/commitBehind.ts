import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import { requireFreeSpace } from '#store/freeSpace'
import type { Kv, KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import { type BlockLoad, treeShareAt } from '../blockTree.ts'
import type { Branch } from '../branch.ts'
import { readHead, type StoredHeads } from '../chainStore.ts'
import type { ExecutionOptions } from '../executionDeps.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import type { PruneEvent, PruneStep } from '../pruning/pruner.ts'
import type { StageTimes } from '../stageTimes.ts'
import { CommitPace } from './commitPace.ts'
import { type CommitOutcome, type CommitRequest, type Committer, createCommitter } from './committer.ts'

/** Bounds of uncommitted blocks: time since they were published, and bytes in the journal. */
export const commitBounds = { afterMs: 2_000, journalBytes: 64 * 2 ** 20 }

/** The published record, the sequence of its heads, and the load of its uncommitted blocks. */
export type Published = { readonly record: HeadRecord; readonly sequence: number; readonly load: BlockLoad }

/** A finished transaction: the head in the store, and the sequence of the heads if it ended a round. */
export type Committed = { readonly head: BlockId; readonly roundSequence: number | undefined }

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
  /** called before each transaction */
  readonly onCommitting: () => void
  /** called after each transaction */
  readonly onCommitted: (done: Committed) => void
  /** called after each step that removed older states */
  readonly onPruned?: (step: PruneStep) => void
  /** called after the last of several steps: the published record's snapshots hold pages that the steps freed, until there is another record */
  readonly onLastPruned: () => void
}

export type CommitOptions = Pick<Required<ExecutionOptions>, 'minFreeBytes' | 'maxTreeBytes' | 'maxUncommittedMs' | 'commitSliceMs'> &
  Pick<ExecutionOptions, 'retention'>

/** The heads that a round of transactions commits. */
type Goal = { readonly heads: Heads; readonly sequence: number }

/** The published chain above the transactions in progress. */
type Unbegun = Pick<HeadRecord, 'committed' | 'base' | 'overlays' | 'heads'>

/** A transaction that the committer writes. `sequence`: that of the heads in the store after it. */
type Running = {
  readonly goal: Goal
  readonly blocks: readonly ExecutedBlock[]
  readonly head: BlockId
  readonly unwound: number
  readonly sequence: number
}

/**
 * Commits published blocks in the background: `afterMs` after they were published, at once when a start would take too long to restore them, and, before
 * a new block beyond that bound, as many as are needed to return below it. A round of transactions writes the blocks up to the heads published at its
 * begin, a few whole blocks each, and the thread does other work in between. Heads published meanwhile belong to the next round. Until the last
 * transaction of a round the store keeps the sequence of its previous heads, so a start restores the later ones from the journal. A change of branch is
 * one transaction. When the disk is full it writes nothing and retries by itself.
 *
 * The committer may write in another thread. Then a call waits for a transaction only if the blocks that it leaves are at the bound, and a transaction begins
 * before the end of the previous one if they are.
 */
export class CommitBehind {
  readonly #deps: CommitDeps
  readonly #opts: CommitOptions
  #maxTreeBytes: number
  readonly #committer: Committer
  readonly #pace: CommitPace
  readonly #pruning: Disposable | undefined
  /** sequence of the heads in the store */
  #sequence: number
  #goal: Goal | undefined
  /** time since which published heads wait for a round */
  #sinceMs: number | undefined
  /** transactions in progress, oldest first: each continues the chain of the one before */
  readonly #running: Running[] = []
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
    deps.memory?.onChange((level) => this.#limitTree(treeShareAt[level]))
    this.#committer.onOutcome(() => this.#attempt(() => this.#take(false)))
    this.#pruning = opts.retention && this.#committer.prune(opts.retention, (event) => this.#pruned(event))
  }

  /** Returns a snapshot of the store as in the published record. The blocks of finished transactions leave the record first. */
  snapshot(): KvReader & Disposable {
    for (;;) {
      const reader = this.#deps.kv.snapshot()
      const stored = readHead(reader)?.hash
      if (!this.#running.some(({ head }) => head.hash === stored)) return reader
      reader[Symbol.dispose]()
      this.#attempt(() => this.#take(true))
    }
  }

  /**
   * Waits for the transactions in progress unless a branch continues them: each published record must contain the head of the store, before and after
   * each transaction.
   * @returns whether it waited
   */
  settleUnless({ blocks }: Branch): boolean {
    const head = this.#running.at(-1)?.head.hash
    if (head === undefined || blocks.some(({ hash }) => hash === head)) return false
    this.#settle()
    return true
  }

  /** Waits for a transaction in progress that unwinds blocks. */
  settleUnwind(): void {
    if (this.#running.some(({ unwound }) => unwound > 0)) this.#settle()
  }

  #settle(): void {
    while (this.#running.length > 0) this.#attempt(() => this.#take(true))
  }

  /** Called after heads were published. */
  published(): void {
    this.#sinceMs ??= this.#deps.clock.nowMs()
    if (this.#goal === undefined && this.#running.length === 0) this.#schedule(this.#isAtBound() ? 0 : commitBounds.afterMs)
  }

  /** Bounds the blocks in memory; beyond it a new block waits for commits. */
  #limitTree(share: number): void {
    this.#maxTreeBytes = this.#opts.maxTreeBytes * share
    if (this.#isPending && this.#running.length === 0 && this.#isAtBound()) this.#schedule(0)
  }

  /**
   * Commits until there is room for a new block.
   * @throws Fault DISK_LOW (retry); the error of a commit without which there is no room
   */
  makeRoom(): void {
    this.#requireSound()
    requireFreeSpace(this.#deps.kv, this.#opts.minFreeBytes)
    while (this.#isPending && this.#isAtBound()) this.#attemptOrThrow()
  }

  /**
   * Commits all published blocks now.
   * @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal); blocks that were not written stay readable
   */
  run(): void {
    if (this.#isPending) this.#requireSound()
    while (this.#isPending) this.#attemptOrThrow()
  }

  /** Waits for the transactions in progress, and ends timers and pruning. */
  stop(): void {
    this.#settle()
    this.#clearTimer()
    this.#pruning?.[Symbol.dispose]()
  }

  #clearTimer(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  #pruned(event: PruneEvent): void {
    const { log, onPruned, onLastPruned } = this.#deps
    if ('error' in event) {
      log.error('older states not removed', { error: event.error })
      return
    }
    onPruned?.(event)
    if (event.isLast) onLastPruned()
  }

  get #isPending(): boolean {
    return this.#running.length > 0 || this.#goal !== undefined || this.#sinceMs !== undefined
  }

  #isAtBound(): boolean {
    const running = this.#deps.loadOf(this.#running.flatMap(({ blocks }) => blocks))
    const { load } = this.#deps.published()
    const ms = load.ms - running.ms
    const journalBytes = load.journalBytes - running.journalBytes
    // blocks in progress are in memory until they are written
    const { sizeBytes } = load
    // each transaction in progress has up to as many
    const maxMs = this.#opts.maxUncommittedMs / (1 + this.#committer.mostInProgress)
    return ms >= maxMs || journalBytes >= commitBounds.journalBytes || sizeBytes >= this.#maxTreeBytes / 2
  }

  /** Returns the published chain above the transactions in progress. */
  #unbegun(): Unbegun {
    const { record } = this.#deps.published()
    const head = this.#running.at(-1)?.head
    if (head === undefined) return record
    return { ...record, committed: head, base: head, overlays: record.overlays.slice(head.number - record.base.number) }
  }

  /**
   * Returns whether a transaction may begin now. One that continues others has blocks, as they have, none of them unwinds any, and all uncommitted blocks are
   * within the bound: with large blocks one is in progress.
   */
  get #canBegin(): boolean {
    if (this.#running.length === 0) return true
    return (
      this.#running.length < this.#committer.mostInProgress &&
      this.#running.every(({ blocks, unwound }) => blocks.length > 0 && unwound === 0) &&
      this.#deps.published().load.ms < this.#opts.maxUncommittedMs &&
      this.#unbegun().overlays.length > 0
    )
  }

  #schedule(afterMs: number): void {
    if (this.#timer && afterMs > 0) return
    this.#clearTimer()
    this.#timer = this.#deps.clock.after(afterMs, () => {
      this.#timer = undefined
      if (this.#running.length === 0) this.#attempt(() => this.#begin())
    })
  }

  /** Begins a transaction, which may end at once, or ends the oldest one in progress. */
  #attemptOrThrow(): void {
    const failure = this.#attempt(() => (this.#canBegin ? this.#begin() : this.#take(true)))
    if (failure) throw failure.error
  }

  /** Runs a step of a transaction. Retries later when the disk is full; any other error ends all commits. */
  #attempt(step: () => void): { readonly error: unknown } | undefined {
    const { log } = this.#deps
    try {
      step()
      return undefined
    } catch (error) {
      const canRetry = isFault(error) && error.severity === 'retry'
      if (!this.#isWarned || !canRetry) log.error('commit failed', { error, willRetry: canRetry })
      this.#isWarned = true
      this.#clearTimer()
      if (canRetry) this.#schedule(commitBounds.afterMs)
      else this.#failure = error
      return { error }
    }
  }

  #begin(): void {
    const { kv, onCommit, published, onCommitting } = this.#deps
    requireFreeSpace(kv, this.#opts.minFreeBytes)
    const record = this.#unbegun()
    const { committed, base } = record
    const goal = this.#goalIn(record, published().sequence)
    const blocks = this.#sliceOf(record, goal)
    const last = blocks.at(-1)
    const head = last ? { number: last.header.number, hash: last.hash } : base
    const isWhole = head.hash === goal.heads.unsafe.hash
    onCommitting()
    onCommit?.('begin')
    const stored = this.#running.at(-1)?.sequence ?? this.#sequence
    const sequence = isWhole ? goal.sequence : stored
    const running = { goal, blocks, head, unwound: committed.number - base.number, sequence }
    // the next transaction has a goal of its own
    if (isWhole) this.#goal = undefined
    // heads that are stored already need only the steps after a transaction
    if (goal.sequence === stored) {
      this.#end(running, { ms: 0 })
      return
    }
    const heads = isWhole ? goal.heads : labelsAt(goal.heads, head)
    const request: CommitRequest = { committed, branch: { ancestor: base, blocks }, heads, sequence }
    this.#running.push(running)
    this.#committer.begin(request)
    this.#take(false)
  }

  /** Takes the outcome of the oldest transaction in progress, if there is one. */
  #take(wait: boolean): void {
    const [running] = this.#running
    const outcome = running && this.#committer.take(wait)
    if (outcome === undefined) return
    this.#running.shift()
    this.#end(running as Running, outcome)
  }

  /** Ends the transactions that continued one that failed, and begins their blocks again later. */
  #failed(error: unknown): never {
    while (this.#running.shift()) this.#committer.take(true)
    this.#goal = undefined
    this.#sinceMs ??= this.#deps.clock.nowMs()
    throw error
  }

  #end({ goal, blocks, head, unwound, sequence }: Running, outcome: CommitOutcome): void {
    const { log, onCommit, onCommitted, sizeOf, stages } = this.#deps
    if ('error' in outcome) this.#failed(outcome.error)
    onCommit?.('end')
    const { ms } = outcome
    stages?.add('commit', ms)
    this.#pace.took(ms, blocks.map(sizeOf))
    const isWhole = head.hash === goal.heads.unsafe.hash
    this.#sequence = sequence
    if (this.#isWarned) log.info('commits resumed')
    this.#isWarned = false
    log.debug('committed', { ...head, added: blocks.length, unwound, ms })
    onCommitted({ head, roundSequence: isWhole ? goal.sequence : undefined })
    this.#scheduleNext()
  }

  /** Returns the heads that the current round commits: those at its begin while they are ahead on the published chain, else the published heads. */
  #goalIn(record: Unbegun, sequence: number): Goal {
    const { committed, base, overlays, heads } = record
    const unsafe = this.#goal?.heads.unsafe
    const onTheWay = unsafe && (unsafe.hash === base.hash || overlays[unsafe.number - base.number - 1]?.hash === unsafe.hash)
    if (this.#goal && onTheWay && base.hash === committed.hash) return this.#goal
    this.#sinceMs = undefined
    this.#goal = { heads, sequence }
    return this.#goal
  }

  /** Returns the blocks of the next transaction: all when the branch changes, else as many towards the goal as fit into its time. */
  #sliceOf({ committed, base, overlays }: Unbegun, { heads }: Goal): readonly ExecutedBlock[] {
    if (base.hash !== committed.hash) return overlays
    const left = overlays.slice(0, heads.unsafe.number - base.number)
    return left.slice(0, this.#pace.blocksIn(left, this.#deps.sizeOf))
  }

  #scheduleNext(): void {
    this.#clearTimer()
    if (this.#goal) this.#schedule(0)
    else if (this.#sinceMs !== undefined) {
      const waitedMs = this.#deps.clock.nowMs() - this.#sinceMs
      this.#schedule(this.#isAtBound() ? 0 : Math.min(commitBounds.afterMs, Math.max(0, commitBounds.afterMs - waitedMs)))
    }
  }

  #requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Returns the labels of a chain that ends at a block below the heads. */
function labelsAt({ safe, finalized }: Heads, head: BlockId): StoredHeads {
  const upTo = (label: BlockId): BlockId => (label.number < head.number ? label : head)
  return { unsafe: head, safe: upTo(safe), finalized: upTo(finalized) }
}
