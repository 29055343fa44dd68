import { randomBytes } from 'node:crypto'
import { CacheSet, type CacheSource } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { WantedLogs } from '#types/logMatcher'
import type { LogFilter } from '../codecs/logFilter.ts'
import { filterNotFound, tooManyFilters } from '../errors.ts'
import type { LocatedLog } from '../results/log.ts'
import { ByteBudget } from '../server/body.ts'
import type { Notification } from '../subscriptions/notification.ts'
import { ParentTrail, type Trail } from './chainTrail.ts'
import { PendingHashes } from './pendingHashes.ts'
import { type MatcherUse, SharedMatchers } from './sharedMatchers.ts'

/** Kind of a filter and its unread progress. */
export type Filter = LogsFilter | { readonly kind: 'blocks'; trail: Trail } | { readonly kind: 'pending'; next: number }

export type LogsFilter = { readonly kind: 'logs'; readonly range: LogFilter['range']; readonly use: MatcherUse; trail: Trail }

/** Forms of a new transaction, made once for all subscribers: the whole transaction as a notification. */
export type PendingMade = { whole?: Promise<Notification | undefined> }

/** Filters that clients poll. They belong to no connection: any client that knows the unguessable id may poll. */
export interface Filters {
  /** Logs of a block, read once and shared by all filters and subscriptions that follow the chain. */
  logsOf(block: Hash, read: () => readonly LocatedLog[]): readonly LocatedLog[]
  /** memory budget of the filters and subscriptions of the thread */
  readonly budget: ByteBudget
  readonly parents: ParentTrail
  /**
   * Log matcher of a filter or subscription; equal matchers are shared.
   * @throws RpcError −32005 when the matchers of all clients exceed their budget
   */
  matcherFor(wanted: WantedLogs): MatcherUse
  /**
   * Adds a filter; its matcher is released when it ends.
   * @throws RpcError −32005 when there are too many filters
   */
  add(filter: Filter): string
  /**
   * Polls a filter after its earlier polls have ended. A poll keeps the filter alive.
   * @throws RpcError −32602 when the id is unknown or the filter has expired
   */
  ask<T>(id: string, question: (filter: Filter) => T | Promise<T>): Promise<T>
  /** @returns whether the filter existed */
  remove(id: string): boolean
  /** recent pool transactions */
  readonly pending: Pick<PendingHashes, 'end' | 'since'>
  /** Adds a new pool transaction. */
  notePending(hash: Hash): void
  /** @param listener called with each new pool transaction and its shared forms; must not throw */
  onPending(listener: (hash: Hash, made: PendingMade) => void): Disposable
}

export type FilterLimits = {
  readonly maxFilters: number
  /** approximate memory of all log filters and subscriptions */
  readonly maxMatcherBytes: number
  /** time without a poll after which a filter ends */
  readonly idleMs: number
  /** pool transactions that are kept for the next poll of filters; the oldest are dropped */
  readonly maxPending: number
}

/** Memory of all filters and subscriptions of a thread, in addition to each connection's own allowance. */
export const filterMemoryBytes = 64_000_000

const defaultLimits: FilterLimits = {
  ...{ maxFilters: 1_000, maxMatcherBytes: filterMemoryBytes, idleMs: 300_000, maxPending: 10_000 },
}
/** Memory for the logs of recent blocks without a budget. */
const logCacheBytes = 16 * 2 ** 20
/** memory of a log in addition to its data, in bytes */
const logBytes = 700

type Entry = { readonly filter: Filter; askedMs: number; turn: Promise<unknown> }

export type FiltersDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  /** creates unguessable ids; default: 16 random bytes */
  readonly newId?: (() => string) | undefined
  /** `logs`: those of recent blocks; absent: an own cache */
  readonly caches?: CacheSource<'logs'>
}

const randomId = (): string => toHex(randomBytes(16))

export function createFilters({ clock, newId = randomId, caches }: FiltersDeps, given: Partial<FilterLimits> = {}): Filters {
  const limits = { ...defaultLimits, ...given }
  const entries = new Map<string, Entry>()
  const listeners = new Set<(hash: Hash, made: PendingMade) => void>()
  const budget = new ByteBudget(limits.maxMatcherBytes)
  const parents = new ParentTrail()
  const pending = new PendingHashes(limits.maxPending)
  const matchers = new SharedMatchers(budget, parents)
  const shared = (caches ?? new CacheSet({ logs: logCacheBytes })).lru<Hash, readonly LocatedLog[]>('logs')

  const isIdle = ({ askedMs }: Entry): boolean => clock.elapsedMs() - askedMs > limits.idleMs
  function drop(id: string): boolean {
    const filter = entries.get(id)?.filter
    if (filter?.kind === 'logs') filter.use[Symbol.dispose]()
    return entries.delete(id)
  }
  function dropIdle(): void {
    for (const [id, entry] of entries) if (isIdle(entry)) drop(id)
  }

  return {
    logsOf(block, read): readonly LocatedLog[] {
      const known = shared.get(block)
      if (known) return known
      const logs = read()
      shared.set(
        block,
        logs,
        logs.reduce((sum, { log }) => sum + logBytes + log.data.length, logBytes),
      )
      return logs
    },
    budget,
    parents,
    pending,
    matcherFor(wanted): MatcherUse {
      dropIdle()
      return matchers.use(wanted)
    },
    add(filter): string {
      dropIdle()
      if (entries.size >= limits.maxFilters) {
        if (filter.kind === 'logs') filter.use[Symbol.dispose]()
        throw tooManyFilters()
      }
      const id = newId()
      entries.set(id, { filter, askedMs: clock.elapsedMs(), turn: Promise.resolve() })
      return id
    },
    async ask<T>(id: string, question: (filter: Filter) => T | Promise<T>): Promise<T> {
      const entry = entries.get(id)
      if (entry === undefined || isIdle(entry)) {
        drop(id)
        throw filterNotFound()
      }
      entry.askedMs = clock.elapsedMs()
      const answer = entry.turn.then(() => question(entry.filter))
      entry.turn = answer.catch(() => {})
      return await answer
    },
    remove(id): boolean {
      const entry = entries.get(id)
      return drop(id) && entry !== undefined && !isIdle(entry)
    },
    onPending(listener): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    notePending(hash): void {
      const made: PendingMade = {}
      for (const listener of listeners) listener(hash, made)
      pending.add(hash)
    },
  }
}
