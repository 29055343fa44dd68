import type { HeadRecord } from '#blockchain/heads/headRecord'

/** A feed of published records; `publish` is called with each record right after it can be read. */
export type RecordFeed<T> = {
  /** @param listener must not throw */
  subscribe(listener: (news: readonly T[]) => void): Disposable
  publish(record: HeadRecord): void
}

/**
 * Creates a feed that notifies subscribers of the news in each published record. It begins after the first record.
 * @param newsOf returns the news between two consecutive records; called only when there are subscribers
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
