import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { LocatedLog } from '../results/log.ts'
import type { ParentTrail } from './chainTrail.ts'

/** Maximum number of logs that one matcher remembers. The newest block always stays. */
const maxLogs = 10_000
/** Maximum number of logs that all matchers of a thread remember, about 70 MB when no two matchers share them. */
const maxLogsInAll = 100_000

/** Parts shared by the remembered logs of all matchers of a thread. */
export class MatchedShare {
  readonly parents: ParentTrail
  readonly matchers = new Set<MatchedLogs>()
  logs = 0
  #parentsForgotten = 0

  constructor(parents: ParentTrail) {
    this.parents = parents
  }

  get isFull(): boolean {
    return this.logs > maxLogsInAll
  }

  /** Drops blocks whose parents were forgotten since the last call, of all matchers: one that finds nothing drops none by itself. */
  dropForgotten(): void {
    if (this.#parentsForgotten === this.parents.forgotten) return
    this.#parentsForgotten = this.parents.forgotten
    for (const matcher of this.matchers) matcher.dropForgotten()
  }
}

type Matched = { readonly number: number; readonly logs: readonly LocatedLog[] }

/**
 * Logs that a matcher found in recent blocks. Filters and subscriptions with the same matcher share them, and report them again as removed after a
 * reorg. A block is remembered as long as its parent is.
 */
export class MatchedLogs implements Disposable {
  readonly #share: MatchedShare
  /** blocks with logs, in the order in which they were found */
  readonly #blocks = new Map<Hash, Matched>()
  #last: { readonly hash: Hash; readonly logs: readonly LocatedLog[] } | undefined
  #logs = 0
  /** the highest number of a block whose logs were dropped */
  #forgotten = -1
  #isDisposed = false

  constructor(share: MatchedShare) {
    this.#share = share
    share.matchers.add(this)
  }

  /** The last added block, whether it has logs or not. */
  get last(): { readonly hash: Hash; readonly logs: readonly LocatedLog[] } | undefined {
    return this.#last
  }

  /** Adds the logs of a block whose parent is noted. A search that ends after its last filter or subscription remembers nothing. */
  add({ number, hash }: BlockId, logs: readonly LocatedLog[]): void {
    if (this.#isDisposed) return
    this.#last = { hash, logs }
    if (logs.length === 0 || this.#blocks.has(hash)) return
    this.#blocks.set(hash, { number, logs })
    this.#count(logs.length)
    if (this.#share.isFull) this.#share.dropForgotten()
    this.#dropWhile((oldest) => oldest !== hash && (this.#isFull || !this.#share.parents.has(oldest)))
  }

  /** Drops blocks whose parents are forgotten: no reorg is followed so far back. */
  dropForgotten(): void {
    this.#dropWhile((oldest) => !this.#share.parents.has(oldest))
  }

  #dropWhile(isDropped: (oldest: Hash) => boolean): void {
    for (const [oldest, matched] of this.#blocks) {
      if (!isDropped(oldest)) return
      this.#blocks.delete(oldest)
      this.#count(-matched.logs.length)
      this.#forgotten = Math.max(this.#forgotten, matched.number)
    }
  }

  /** Returns the logs of an earlier added block; undefined when they were dropped. */
  in({ number, hash }: BlockId): readonly LocatedLog[] | undefined {
    const matched = this.#blocks.get(hash)
    if (matched) return matched.logs
    return number > this.#forgotten ? [] : undefined
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#share.matchers.delete(this)
    this.#count(-this.#logs)
    this.#blocks.clear()
  }

  get #isFull(): boolean {
    return this.#logs > maxLogs || this.#share.isFull
  }

  #count(logs: number): void {
    this.#logs += logs
    this.#share.logs += logs
  }
}
