import type { PendingFeed, PendingNews } from '../pendingPorts.ts'
import { createRounds } from './rounds.ts'

/** Shares one feed among any number of listeners and calls them in batches. Subscribes to the source only while there are listeners. */
export function pendingRounds(source: PendingFeed): PendingFeed {
  type Listener = { readonly hear: (news: readonly PendingNews[]) => void }
  const listeners = new Set<Listener>()
  const notifyAll = createRounds(listeners)
  let asked: Disposable | undefined
  return {
    subscribe(hear): Disposable {
      const listener: Listener = { hear }
      listeners.add(listener)
      asked ??= source.subscribe((news) => notifyAll((each) => listeners.has(each) && each.hear(news)))
      return {
        [Symbol.dispose](): void {
          listeners.delete(listener)
          if (listeners.size > 0) return
          asked?.[Symbol.dispose]()
          asked = undefined
        },
      }
    },
  }
}
