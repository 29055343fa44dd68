import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { LocatedLog } from '../results/log.ts'
import type { ParentTrail } from './chainTrail.ts'

/** Maximum number of logs that one matcher remembers. The newest block always stays. */
const maxLogs = 10_000
/** Maximum number of logs that all matchers of a thread remember, about 70 MB when no two matchers share them. */
const maxLogsInAll = 100_000

/** Parts shared by the remembered logs of all matchers of a thread. */
export type MatchedShare = { readonly parents: ParentTrail; logs: number }

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
    for (const [oldest, matched] of this.#blocks) {
      if (oldest === hash || !(this.#isFull || !this.#share.parents.has(oldest))) return
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
    this.#count(-this.#logs)
    this.#blocks.clear()
  }

  get #isFull(): boolean {
    return this.#logs > maxLogs || this.#share.logs > maxLogsInAll
  }

  #count(logs: number): void {
    this.#logs += logs
    this.#share.logs += logs
  }
}
