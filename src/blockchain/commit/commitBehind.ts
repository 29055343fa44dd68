import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { Heads } from '#engine/port'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { requireFreeSpace } from '#store/freeSpace'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { BlockLoad } from '../blockTree.ts'
import type { StoredHeads } from '../chainStore.ts'
import type { HeadRecord } from '../heads/headRecord.ts'
import { commitBranch, fillOlderLogs } from './commit.ts'
import { CommitPace } from './commitPace.ts'

/** Execution is measured in a process that is warm; one that starts takes two to three times as long to bring the same blocks back. */
export const commitBounds = { afterMs: 2_000, executionMs: 200, journalBytes: 64 * 2 ** 20 }

/** What a transaction has for the logs of blocks that an earlier version wrote, until they are all in the index. */
const olderLogsMs = 10

/** What is published, the sequence of its heads, and what those of its blocks cost that are not committed. */
export type Published = { readonly record: HeadRecord; readonly sequence: number; readonly load: BlockLoad }

/** A transaction that was done: the head in the store, and the sequence of the heads that are whole there when a round ended with it. */
export type Committed = { readonly head: BlockId; readonly roundSequence: number | undefined }

export type CommitDeps = {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
  readonly onCommit?: (phase: 'begin' | 'end') => void
  readonly published: () => Published
  /** milliseconds that a transaction nobody waits for should be put off; absent: none */
  readonly waitMs?: () => number
  readonly sizeOf: (block: ExecutedBlock) => number
  /** before each transaction */
  readonly onCommitting: () => void
  /** after each transaction */
  readonly onCommitted: (done: Committed) => void
}

export type CommitOptions = {
  readonly minFreeBytes: number
  readonly maxPendingBytes: number
  /** that a transaction should take at most; it has one block at least */
  readonly sliceMs: number
}

/** Heads that a round of transactions is on the way to. */
type Goal = { readonly heads: Heads; readonly sequence: number }

/**
 * Writes what is published to the store, behind: `afterMs` after it was published, at once when it would cost a start too much, and before a block is
 * taken beyond that bound as much as is needed to come below it. A round of transactions writes the blocks up to the heads that were published when
 * it began, a few whole blocks each, and between two of them the caller's other work has its turn; heads published meanwhile are the next round's.
 * Until the last transaction of a round the store keeps the sequence of the heads it had, so that a start brings the later ones back from the
 * journal. A change of branch is one transaction. Without room on the disk nothing is written, and it tries again by itself.
 */
export class CommitBehind {
  readonly #deps: CommitDeps
  readonly #opts: CommitOptions
  readonly #pace: CommitPace
  /** of the heads in the store */
  #sequence: number
  #goal: Goal | undefined
  /** since when heads wait that no round is on the way to */
  #sinceMs: number | undefined
  #timer: Disposable | undefined
  /** no commit will succeed any more */
  #failure: unknown
  #isWarned = false

  /** @param sequence of the heads that are committed */
  constructor(deps: CommitDeps, sequence: number, opts: CommitOptions) {
    this.#deps = deps
    this.#sequence = sequence
    this.#opts = opts
    this.#pace = new CommitPace(opts.sliceMs)
  }

  /** Heads were published. */
  published(): void {
    this.#sinceMs ??= this.#deps.clock.nowMs()
    if (this.#goal === undefined) this.#schedule(this.#isAtBound() ? 0 : commitBounds.afterMs)
  }

  /**
   * Before a new block: commits until there is room for it.
   * @throws Fault DISK_LOW (retry); what a commit throws when there is no room for the block without it
   */
  makeRoom(): void {
    this.#requireSound()
    requireFreeSpace(this.#deps.kv, this.#opts.minFreeBytes)
    while (this.#isPending && this.#isAtBound()) this.#attemptOrThrow()
  }

  /**
   * Commits all that is published, now.
   * @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal): then what is not written stays readable
   */
  run(): void {
    if (this.#isPending) this.#requireSound()
    while (this.#isPending) this.#attemptOrThrow()
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  get #isPending(): boolean {
    return this.#goal !== undefined || this.#sinceMs !== undefined
  }

  #isAtBound(): boolean {
    const { ms, journalBytes, sizeBytes } = this.#deps.published().load
    return ms >= commitBounds.executionMs || journalBytes >= commitBounds.journalBytes || sizeBytes >= this.#opts.maxPendingBytes
  }

  #schedule(afterMs: number): void {
    if (this.#timer && afterMs > 0) return
    this.stop()
    this.#timer = this.#deps.clock.after(afterMs, () => {
      this.#timer = undefined
      const waitMs = this.#deps.waitMs?.() ?? 0
      if (waitMs > 0) this.#schedule(waitMs)
      else this.#attempt()
    })
  }

  #attemptOrThrow(): void {
    const failure = this.#attempt()
    if (failure) throw failure.error
  }

  /** One transaction, and a turn for the next one; what fails for want of room is tried again later, anything else never. */
  #attempt(): { readonly error: unknown } | undefined {
    const { log } = this.#deps
    try {
      requireFreeSpace(this.#deps.kv, this.#opts.minFreeBytes)
      this.#write()
      if (this.#isWarned) log.info('commits go on')
      this.#isWarned = false
      return undefined
    } catch (error) {
      const canRetry = isFault(error) && error.severity === 'retry'
      if (!this.#isWarned || !canRetry) log.error('commit failed', { error, willRetry: canRetry })
      this.#isWarned = true
      this.stop()
      if (canRetry) this.#schedule(commitBounds.afterMs)
      else this.#failure = error
      return { error }
    }
  }

  #write(): void {
    const { kv, clock, log, onCommit, published, onCommitting, onCommitted } = this.#deps
    const { record, sequence } = published()
    const { committed, base } = record
    const goal = this.#goalIn(record, sequence)
    const blocks = this.#sliceOf(record, goal)
    const last = blocks.at(-1)
    const head = last ? { number: last.header.number, hash: last.hash } : base
    const isWhole = head.hash === goal.heads.unsafe.hash
    const startMs = clock.elapsedMs()
    onCommitting()
    onCommit?.('begin')
    // the same heads again: only what follows a transaction is left to do
    if (goal.sequence !== this.#sequence) {
      const branch = { ancestor: base, blocks }
      const labels = isWhole ? goal.heads : labelsAt(goal.heads, head)
      kv.write((tx) => {
        commitBranch(tx, committed, branch, labels, isWhole ? goal.sequence : this.#sequence)
        const untilMs = clock.elapsedMs() + olderLogsMs
        fillOlderLogs(tx, () => clock.elapsedMs() < untilMs)
      })
    }
    onCommit?.('end')
    const ms = clock.elapsedMs() - startMs
    this.#pace.took(ms, blocks.map(this.#deps.sizeOf))
    if (isWhole) {
      this.#sequence = goal.sequence
      this.#goal = undefined
    }
    log.debug('committed', { ...head, added: blocks.length, unwound: committed.number - base.number, ms })
    onCommitted({ head, roundSequence: isWhole ? goal.sequence : undefined })
    this.#scheduleNext()
  }

  /** The heads that the round under way is to reach: those it began with, as long as they are ahead on the published chain. */
  #goalIn(record: HeadRecord, sequence: number): Goal {
    const { committed, base, overlays, heads } = record
    const unsafe = this.#goal?.heads.unsafe
    const onTheWay = unsafe && (unsafe.hash === base.hash || overlays[unsafe.number - base.number - 1]?.hash === unsafe.hash)
    if (this.#goal && onTheWay && base.hash === committed.hash) return this.#goal
    this.#sinceMs = undefined
    this.#goal = { heads, sequence }
    return this.#goal
  }

  /** The blocks of the next transaction: all that change the branch, or as many on the way to the goal as its time allows. */
  #sliceOf({ committed, base, overlays }: HeadRecord, { heads }: Goal): readonly ExecutedBlock[] {
    if (base.hash !== committed.hash) return overlays
    const left = overlays.slice(0, heads.unsafe.number - base.number)
    return left.slice(0, this.#pace.blocksIn(left, this.#deps.sizeOf))
  }

  #scheduleNext(): void {
    this.stop()
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

/** The labels of a chain that ends at a block on the way to the heads. */
function labelsAt({ safe, finalized }: Heads, head: BlockId): StoredHeads {
  const upTo = (label: BlockId): BlockId => (label.number < head.number ? label : head)
  return { unsafe: head, safe: upTo(safe), finalized: upTo(finalized) }
}
