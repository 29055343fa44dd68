import type { Clock } from '#lib/clock'
import type { PendingFeed } from '#rpc/pendingPorts'
import type { HeadFeed } from '#rpc/ports'
import type { StreamEntry } from './state.ts'

/** Most entries that are kept. */
const maxEntries = 100
/** Without a viewer for this time the subscriptions end. */
const restMs = 15_000

/** Feeds of the node; absent in consensus mode. */
export type StreamFeeds = { readonly heads: HeadFeed; readonly preconfirmed?: PendingFeed | undefined }

/** The newest blocks and flashblocks, while it is subscribed. */
export class BlockStream implements Disposable {
  readonly #clock: Pick<Clock, 'nowMs' | 'after'>
  readonly #feeds: StreamFeeds
  #entries: StreamEntry[] = []
  #seq = 0
  #subscribed: DisposableStack | undefined
  #rest: Disposable | undefined

  constructor(clock: Pick<Clock, 'nowMs' | 'after'>, feeds: StreamFeeds) {
    this.#clock = clock
    this.#feeds = feeds
  }

  /** Returns the entries after a number, oldest first. Subscribes: the feeds unpack transactions, which costs time that only a viewer is worth. */
  since(seq: number): readonly StreamEntry[] {
    this.#subscribe()
    this.#rest?.[Symbol.dispose]()
    this.#rest = this.#clock.after(restMs, () => this[Symbol.dispose]())
    return this.#entries.filter((entry) => entry.seq > seq)
  }

  /** Ends the subscriptions until `since` is called again. */
  [Symbol.dispose](): void {
    this.#rest?.[Symbol.dispose]()
    this.#subscribed?.dispose()
    this.#subscribed = undefined
    this.#entries = []
  }

  #subscribe(): void {
    if (this.#subscribed) return
    const subscribed = new DisposableStack()
    this.#subscribed = subscribed
    const { heads, preconfirmed } = this.#feeds
    subscribed.use(
      heads.subscribe((blocks) => {
        for (const { hash, block } of blocks.slice(-maxEntries)) {
          const { header, transactions } = block
          this.#add({
            kind: 'block',
            number: header.number,
            hash,
            index: null,
            transactions: transactions.length,
            gasUsed: Number(header.gasUsed),
          })
        }
      }),
    )
    const pending = preconfirmed?.subscribe((news) => {
      for (const one of news.slice(-maxEntries)) {
        if (one.kind !== 'flashblock') continue
        const { number, index, header, transactions } = one.pending
        this.#add({ kind: 'flashblock', number, hash: null, index, transactions: transactions.length, gasUsed: Number(header.gasUsed) })
      }
    })
    if (pending) subscribed.use(pending)
  }

  #add(entry: Omit<StreamEntry, 'seq' | 'timeMs'>): void {
    this.#entries.push({ ...entry, seq: ++this.#seq, timeMs: this.#clock.nowMs() })
    if (this.#entries.length > maxEntries) this.#entries.shift()
  }
}
