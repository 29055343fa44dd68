import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { type HeadRecord, recentWith, recordAt } from '#blockchain/heads/headRecord'
import { createChainView, type ExecutionView } from '#blockchain/view/chainView'
import { SharedSnapshot } from '#blockchain/view/sharedSnapshot'
import type { Clock } from '#lib/clock'
import type { SnapshotSource } from '#store/ports'
import type { PublishedSequence } from './publishedSequence.ts'
import { unpackBlock } from './wire/packedBlocks.ts'
import { unpackPending } from './wire/packedPending.ts'
import type { ExecutionSizes, PublishedRecord } from './wire/protocol.ts'

/** One view may meet this many commits that end between its record and its snapshot, or one that lasts as many milliseconds. */
const maxViewTries = 5_000
const triesInARow = 3

export type PublishedChainDeps = {
  readonly config: ExecutionConfig
  readonly shown: PublishedSequence
  readonly clock: Pick<Clock, 'nowMs'>
  /** Takes what has arrived and was not handed to the event loop yet. */
  readonly drain: () => void
}

/** The chain that another thread writes, read in this one out of the published record and snapshots of the store. */
export class PublishedChain {
  readonly #deps: PublishedChainDeps
  #record: HeadRecord | undefined
  #sizes: ExecutionSizes = { journalBytes: 0, treeBytes: 0, overlayBlocks: 0, reused: 0 }
  #source: SnapshotSource | undefined
  #failure: Error | undefined
  /** number of the record */
  #taken = 0
  /** What was handed out last, as long as it is the newest: opening a snapshot costs more than most questions. */
  #newest: { readonly view: ExecutionView; readonly snapshot: SharedSnapshot; readonly record: HeadRecord } | undefined
  readonly #pause = new Int32Array(new SharedArrayBuffer(4))

  constructor(deps: PublishedChainDeps) {
    this.#deps = deps
  }

  /** From now on the chain is read out of this. */
  readFrom(source: SnapshotSource): void {
    this.forget()
    this.#source = source
  }

  /** Nothing more will come. */
  fail(error: Error): void {
    this.forget()
    this.#failure = error
  }

  get published(): HeadRecord {
    if (this.#record === undefined) throw this.#failure ?? new RangeError('execution is not open yet')
    return this.#record
  }

  /** What execution held when it published last. */
  sizes(): ExecutionSizes {
    return this.#sizes
  }

  /** From now on it can be read. */
  take({ number, heads, kept, added, pending, sizes }: PublishedRecord): void {
    this.#deps.shown.waitFor(number)
    this.forget()
    this.#taken = number
    const before = this.#record?.overlays.slice(kept.from, kept.to) ?? []
    this.#sizes = sizes
    const overlays = Object.freeze([...before, ...added.map(unpackBlock)])
    const unpacked = pending && unpackPending(this.#record?.pending, pending)
    const recent = recentWith(this.#record?.recent, unpacked)
    this.#record = Object.freeze({ ...heads, overlays, ...(unpacked && { pending: unpacked }), recent })
  }

  /**
   * The chain as it is now.
   * @throws Fault EXECUTION_STOPPED, CHAIN_STORE_DAMAGED (fatal)
   */
  view(): ExecutionView {
    if (this.#source === undefined) throw this.#failure ?? new RangeError('execution is not open yet')
    for (let tries = 1; tries <= maxViewTries; tries++) {
      if (this.#deps.shown.latest !== this.#taken) this.#deps.drain() // to ask the port costs more than all the rest
      if (this.#failure) throw this.#failure
      if (this.#newest && recordAt(this.#newest.record, this.#deps.clock.nowMs()) !== this.#newest.record) this.forget()
      if (this.#newest) {
        this.#newest.snapshot.enter()
        return this.#newest.view
      }
      const view = this.#viewOnce(this.#source)
      if (view) return view
      if (tries >= triesInARow) Atomics.wait(this.#pause, 0, 0, 1)
    }
    throw executionFault('CHAIN_STORE_DAMAGED', { what: `block ${this.published.committed.hash}, the head that was committed` })
  }

  #viewOnce(source: SnapshotSource): ExecutionView | undefined {
    const snapshot = new SharedSnapshot(source.snapshot())
    let view: ExecutionView | undefined
    try {
      const record = recordAt(this.published, this.#deps.clock.nowMs())
      view = createChainView(snapshot, this.#deps.config, record, () => undefined)
      if (view) this.#newest = { view, snapshot, record }
      return view
    } finally {
      if (view === undefined) {
        snapshot.retire()
        snapshot[Symbol.dispose]()
      }
    }
  }

  /** Keeps no snapshot open that nobody looks at. */
  forget(): void {
    this.#newest?.snapshot.retire()
    this.#newest = undefined
  }
}

/**
 * Takes the messages that have arrived at a port and were not handed to the event loop yet; of a closed port there are none, and Node 24.21 crashes
 * where it is asked for them while it closes.
 */
export function drainOf<T>(port: MessagePort, take: (message: T) => void): () => void {
  let isOpen = true
  port.once('close', () => {
    isOpen = false
  })
  return () => {
    for (let next = isOpen && receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) take(next.message as T)
  }
}
