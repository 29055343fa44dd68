import type { HeadRecord } from '#blockchain/heads/headRecord'

/** Listeners, and what is to be called with each record right after it can be read. */
export type RecordFeed<T> = {
  /** @param listener may not throw */
  subscribe(listener: (news: readonly T[]) => void): Disposable
  publish(record: HeadRecord): void
}

/**
 * Tells subscribers what is new in each published record; the first one published is where the feed begins.
 * @param newsOf what is new, of two records that follow each other; asked only when somebody listens
 */
export function createRecordFeed<T>(newsOf: (before: HeadRecord, now: HeadRecord) => readonly T[]): RecordFeed<T> {
  const listeners = new Set<(news: readonly T[]) => void>()
  let last: HeadRecord | undefined
  return {
    subscribe(listener): Disposable {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    publish(record): void {
      const before = last
      last = record
      if (before === undefined || listeners.size === 0) return
      const news = newsOf(before, record)
      if (news.length === 0) return
      for (const listener of listeners) listener(news)
    },
  }
}
