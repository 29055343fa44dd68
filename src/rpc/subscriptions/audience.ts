import type { Filters } from '../filters.ts'
import type { HeadBlock, HeadFeed } from '../ports.ts'
import { headResult } from '../results/block.ts'
import type { Connection } from './connection.ts'
import { notificationOf } from './notification.ts'

export type AudienceDeps = {
  readonly heads: HeadFeed
  /** of transactions that are new in the pool; absent: nobody is told of them */
  readonly pending?: Pick<Filters, 'onPending'> | undefined
}

/** The connections of a server, which hear of heads and of the pool. Disposing of it: they hear nothing any more. */
export interface Audience extends Disposable {
  readonly connections: Set<Connection>
}

export function createAudience({ heads, pending }: AudienceDeps): Audience {
  const connections = new Set<Connection>()
  function tell(blocks: readonly HeadBlock[]): void {
    if (connections.size === 0) return
    for (const block of blocks) {
      const notification = notificationOf(headResult.encode(block))
      for (const connection of connections) connection.notify('newHeads', notification)
    }
    for (const connection of connections) connection.headsMoved()
  }
  const feed = heads.subscribe(tell)
  const pendingFeed = pending?.onPending((hash) => {
    if (connections.size === 0) return
    const notification = notificationOf(hash)
    for (const connection of connections) connection.notify('newPendingTransactions', notification)
  })
  return {
    connections,
    [Symbol.dispose](): void {
      feed[Symbol.dispose]()
      pendingFeed?.[Symbol.dispose]()
    },
  }
}
