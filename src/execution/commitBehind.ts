import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import type { Log } from '#lib/log'
import { requireFreeSpace } from '#store/freeSpace'
import type { Kv } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { BlockLoad } from './blockTree.ts'
import { commitBranch } from './commit.ts'
import type { HeadRecord } from './headRecord.ts'

export const commitBounds = { afterMs: 2_000, executionMs: 500, journalBytes: 64 * 2 ** 20 }

export type CommitDeps = {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** what is published, and the sequence of its heads */
  readonly published: () => { readonly record: HeadRecord; readonly sequence: number }
  /** before each transaction */
  readonly onCommitting: () => void
  /** after each transaction */
  readonly onCommitted: (head: BlockId) => void
}

const noLoad: BlockLoad = { ms: 0, journalBytes: 0, sizeBytes: 0 }

/**
 * Writes what is published to the store, behind: `afterMs` after it was published, at once when it would cost a start too much, and in any case
 * before a block is taken beyond that bound. One transaction holds all that is published then, whole blocks, unwind, heads.
 * Without room on the disk nothing is written, and it tries again by itself.
 */
export class CommitBehind {
  readonly #deps: CommitDeps
  readonly #minFreeBytes: number
  readonly #maxPendingBytes: number
  #sequence: number
  #load = noLoad
  #sinceMs: number | undefined
  #timer: Disposable | undefined
  /** no commit will succeed any more */
  #failure: unknown
  #isWarned = false

  /** @param sequence of the heads that are committed */
  constructor(deps: CommitDeps, sequence: number, opts: { readonly minFreeBytes: number; readonly maxPendingBytes: number }) {
    this.#deps = deps
    this.#sequence = sequence
    this.#minFreeBytes = opts.minFreeBytes
    this.#maxPendingBytes = opts.maxPendingBytes
  }

  get isPending(): boolean {
    return this.#sinceMs !== undefined
  }

  /** Heads were published. @param load of all blocks that are published and not committed */
  published(load: BlockLoad): void {
    this.#load = load
    this.#sinceMs ??= this.#deps.clock.nowMs()
    this.#schedule(this.#isAtBound() ? 0 : commitBounds.afterMs)
  }

  /**
   * Before a new block: commits when that is due.
   * @throws Fault DISK_LOW (retry); what a commit throws when there is no room for the block without it
   */
  makeRoom(): void {
    this.#requireSound()
    requireFreeSpace(this.#deps.kv, this.#minFreeBytes)
    if (this.#sinceMs === undefined) return
    const isAtBound = this.#isAtBound()
    if (!isAtBound && this.#deps.clock.nowMs() - this.#sinceMs < commitBounds.afterMs) return
    const failure = this.#attempt()
    if (failure && isAtBound) throw failure.error
    this.#requireSound()
  }

  /**
   * Commits all that is published, in one transaction.
   * @throws Fault DISK_LOW, DISK_FULL (retry), STORE_FAILED, CHAIN_STORE_DAMAGED (fatal): then nothing is written and all stays readable
   */
  run(): void {
    if (this.#sinceMs === undefined) return
    this.#requireSound()
    const failure = this.#attempt()
    if (failure) throw failure.error
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
  }

  #isAtBound(): boolean {
    const { ms, journalBytes, sizeBytes } = this.#load
    return ms >= commitBounds.executionMs || journalBytes >= commitBounds.journalBytes || sizeBytes >= this.#maxPendingBytes
  }

  #schedule(afterMs: number): void {
    if (this.#timer && afterMs > 0) return
    this.stop()
    this.#timer = this.#deps.clock.after(afterMs, () => {
      this.#timer = undefined
      this.#attempt()
    })
  }

  /** Commits; what fails for want of room is tried again later, anything else never. */
  #attempt(): { readonly error: unknown } | undefined {
    const { log } = this.#deps
    try {
      requireFreeSpace(this.#deps.kv, this.#minFreeBytes)
      this.#write()
      if (this.#isWarned) log.info('commits go on')
      this.#isWarned = false
      return undefined
    } catch (error) {
      const canRetry = isFault(error) && error.severity === 'retry'
      if (!this.#isWarned || !canRetry) log.error('commit failed', { error, willRetry: canRetry })
      this.#isWarned = true
      if (canRetry) this.#schedule(commitBounds.afterMs)
      else this.#failure = error
      return { error }
    }
  }

  #write(): void {
    const { kv, clock, log, onCommit, published, onCommitting, onCommitted } = this.#deps
    const { record, sequence } = published()
    const { committed, base, overlays, heads } = record
    const startMs = clock.nowMs()
    onCommitting()
    onCommit?.('begin')
    if (sequence !== this.#sequence) kv.write((tx) => commitBranch(tx, committed, { ancestor: base, blocks: overlays }, heads, sequence))
    onCommit?.('end')
    this.stop()
    this.#sequence = sequence
    this.#sinceMs = undefined
    this.#load = noLoad
    const { number, hash } = heads.unsafe
    const unwound = committed.number - base.number
    log.debug('committed', { number, hash, added: overlays.length, unwound, ms: clock.nowMs() - startMs })
    onCommitted({ number, hash })
  }

  #requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure
  }
}
