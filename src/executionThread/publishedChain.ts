import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { type HeadRecord, recentWith, recordAt } from '#blockchain/heads/headRecord'
import { createChainView, type ExecutionView } from '#blockchain/view/chainView'
import type { OlderStates, RecordedStates } from '#blockchain/view/olderStates'
import { SharedSnapshot } from '#blockchain/view/sharedSnapshot'
import type { Clock } from '#lib/clock'
import type { HistoryCache, HistoryCaches } from '#state/historyCache'
import type { SnapshotSource } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { PublishedSequence } from './publishedSequence.ts'
import { unpackBlock } from './wire/packedBlocks.ts'
import { unpackPending } from './wire/packedPending.ts'
import type { ExecutionSizes, PublishedRecord } from './wire/protocol.ts'

/** Maximum attempts of one view, each of which a commit between record and snapshot may defeat; later attempts pause 1 ms each. */
const maxViewTries = 5_000
const triesInARow = 3
/** Time after which the view is replaced although the chain has no new block: more proofs may have been recorded. */
const maxProofsAgeMs = 500

export type PublishedChainDeps = {
  readonly config: ExecutionConfig
  readonly shown: PublishedSequence
  readonly clock: Pick<Clock, 'nowMs'>
  /** caches of reads of old states; absent: the usual ones of the thread */
  readonly history?: HistoryCaches | undefined
  /** Takes messages that have arrived but were not yet dispatched by the event loop. */
  readonly drain: () => void
}

/** Reads a chain that another thread writes, by the published record and snapshots of the store. */
export class PublishedChain {
  readonly #deps: PublishedChainDeps
  #record: HeadRecord | undefined
  #sizes: ExecutionSizes = { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0 }
  #source: SnapshotSource | undefined
  #older: OlderStates | undefined
  #failure: Error | undefined
  /** number of the record */
  #taken = 0
  /** Last view, while it is the newest: opening a snapshot costs more than most calls. */
  #newest:
    | { readonly view: ExecutionView; readonly snapshot: SharedSnapshot; readonly record: HeadRecord; readonly atMs: number }
    | undefined
  readonly #pause = new Int32Array(new SharedArrayBuffer(4))

  constructor(deps: PublishedChainDeps) {
    this.#deps = deps
  }

  /** Sets the snapshot source. @param older source of states that the chain no longer has */
  readFrom(source: SnapshotSource, older?: OlderStates): void {
    this.forget()
    this.#source = source
    this.#older = older
  }

  /** Ends all reads with an error. */
  fail(error: Error): void {
    this.forget()
    this.#failure = error
  }

  get published(): HeadRecord {
    if (this.#record === undefined) throw this.#failure ?? new RangeError('execution is not open yet')
    return this.#record
  }

  /** Returns the sizes that execution held at its last record. */
  sizes(): ExecutionSizes {
    return this.#sizes
  }

  /** Makes a record the published one. */
  take({ number, heads, kept, added, pending, sizes }: PublishedRecord): void {
    this.#deps.shown.waitFor(number)
    this.forget()
    this.#taken = number
    const before = this.#record?.overlays.slice(kept.from, kept.to) ?? []
    this.#sizes = sizes
    const overlays = [...before, ...added.map(unpackBlock)]
    const unpacked = pending && unpackPending(this.#record?.pending, pending)
    const recent = recentWith(this.#record?.recent, unpacked)
    this.#record = Object.freeze({ ...heads, overlays, ...(unpacked && { pending: unpacked }), recent })
  }

  /**
   * Returns the chain at this instant.
   * @throws Fault EXECUTION_STOPPED, CHAIN_STORE_DAMAGED (fatal)
   */
  view(): ExecutionView {
    if (this.#source === undefined) throw this.#failure ?? new RangeError('execution is not open yet')
    for (let tries = 1; tries <= maxViewTries; tries++) {
      if (this.#deps.shown.latest !== this.#taken) this.#deps.drain() // reading the port is the most expensive step
      if (this.#failure) throw this.#failure
      if (this.#isOutdated()) this.forget()
      if (this.#newest) {
        this.#newest.snapshot.enter()
        return this.#newest.view
      }
      const view = this.#viewOnce(this.#source)
      if (view) return view
      if (tries >= triesInARow) Atomics.wait(this.#pause, 0, 0, 1)
    }
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.published.committed.hash}, the committed head` })
  }

  #isOutdated(): boolean {
    if (this.#newest === undefined) return false
    const { record, atMs } = this.#newest
    const nowMs = this.#deps.clock.nowMs()
    return recordAt(record, nowMs) !== record || (this.#older !== undefined && Math.abs(nowMs - atMs) > maxProofsAgeMs)
  }

  #viewOnce(source: SnapshotSource): ExecutionView | undefined {
    const snapshot = new SharedSnapshot(source.snapshot())
    let view: ExecutionView | undefined
    try {
      const record = recordAt(this.published, this.#deps.clock.nowMs())
      const states = this.#older
      const older = states && ((head: BlockId, cache: HistoryCache): RecordedStates => snapshot.attach(states.open(snapshot, head, cache)))
      view = createChainView(snapshot, this.#deps.config, record, { history: this.#deps.history, older })
      if (view) this.#newest = { view, snapshot, record, atMs: this.#deps.clock.nowMs() }
      return view
    } finally {
      if (view === undefined) {
        snapshot.retire()
        snapshot[Symbol.dispose]()
      }
    }
  }

  /** Disposes the cached snapshot once it has no users. */
  forget(): void {
    this.#newest?.snapshot.retire()
    this.#newest = undefined
  }
}
