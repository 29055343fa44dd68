import { randomBytes } from 'node:crypto'
import type { Clock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { Lru } from '#lib/lru'
import type { Hash } from '#types/ids'
import type { WantedLogs } from '#types/logMatcher'
import { ToldParents, type Trail } from './chainTrail.ts'
import type { LogFilter } from './codecs/logFilter.ts'
import { filterNotFound, tooManyFilters } from './errors.ts'
import type { LocatedLog } from './results/log.ts'
import { ByteBudget } from './server/body.ts'
import { type MatcherUse, SharedMatchers } from './sharedMatchers.ts'
import type { Notification } from './subscriptions/notification.ts'

/** What a filter waits for, and what it has told. */
export type Filter = LogsFilter | { readonly kind: 'blocks'; trail: Trail<Hash> } | { readonly kind: 'pending'; hashes: Hash[] }

export type LogsFilter = { readonly kind: 'logs'; readonly range: LogFilter['range']; readonly use: MatcherUse; trail: Trail<LocatedLog> }

/** What is made of a new transaction, once for all who want it: the whole of it, as they are told. */
export type PendingMade = { whole?: Promise<Notification | undefined> }

/** The filters that clients poll. They are of no connection: whoever knows an id may ask, and nobody can guess one. */
export interface Filters {
  /** All logs of a block. They are read once for all who follow the chain, and held once, however many remember them. */
  logsOf(block: Hash, read: () => readonly LocatedLog[]): readonly LocatedLog[]
  /** bounds the memory of the filters and subscriptions of the thread */
  readonly budget: ByteBudget
  readonly parents: ToldParents
  /**
   * The matcher of a filter or subscription for logs; equal ones share it.
   * @throws RpcError −32005 when the matchers of all clients hold too much
   */
  matcherFor(wanted: WantedLogs): MatcherUse
  /**
   * Keeps a filter; at its end what it looks for is given back.
   * @throws RpcError −32005 when there are too many
   */
  add(filter: Filter): string
  /**
   * Asks one, after whoever asks it already; that it was asked keeps it alive.
   * @throws RpcError −32602 when there is none with this id (any more)
   */
  ask<T>(id: string, question: (filter: Filter) => T | Promise<T>): Promise<T>
  /** @returns whether there was one */
  remove(id: string): boolean
  /** A transaction is new in the pool. */
  notePending(hash: Hash): void
  /** @param listener told of each transaction that is new in the pool, and of what others have made of it; it may not throw */
  onPending(listener: (hash: Hash, made: PendingMade) => void): Disposable
}

export type FilterLimits = {
  readonly maxFilters: number
  /** memory of all filters and subscriptions for logs, roughly */
  readonly maxMatcherBytes: number
  /** after so long without a question one ends */
  readonly idleMs: number
  /** that one filter keeps until it is asked; the oldest are forgotten */
  readonly maxPending: number
  /** of logs of the newest blocks, roughly */
  readonly maxSharedBytes: number
}

/** Memory of all filters and subscriptions of a thread, beside what each connection has room for anyway. */
export const filterMemoryBytes = 64_000_000

const defaultLimits: FilterLimits = {
  ...{ maxFilters: 1_000, maxMatcherBytes: filterMemoryBytes, idleMs: 300_000, maxPending: 10_000 },
  maxSharedBytes: 32 * 2 ** 20,
}
/** of memory that a log takes beside its data, in bytes */
const logBytes = 700

type Entry = { readonly filter: Filter; askedMs: number; turn: Promise<unknown> }

export type FiltersDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  /** makes ids that nobody can guess; absent: of 16 bytes */
  readonly newId?: (() => string) | undefined
}

const randomId = (): string => toHex(randomBytes(16))

export function createFilters({ clock, newId = randomId }: FiltersDeps, given: Partial<FilterLimits> = {}): Filters {
  const limits = { ...defaultLimits, ...given }
  const entries = new Map<string, Entry>()
  const listeners = new Set<(hash: Hash, made: PendingMade) => void>()
  const budget = new ByteBudget(limits.maxMatcherBytes)
  const matchers = new SharedMatchers(budget)
  const shared = new Lru<Hash, readonly LocatedLog[]>(limits.maxSharedBytes)

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
    parents: new ToldParents(),
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
      for (const { filter } of entries.values()) {
        if (filter.kind !== 'pending') continue
        if (filter.hashes.length >= limits.maxPending) filter.hashes.shift()
        filter.hashes.push(hash)
      }
    },
  }
}
