import type { Filters } from '../filters/filters.ts'
import type { HeadFeed } from '../ports.ts'
import { headResult } from '../results/block.ts'
import type { Connection } from './connection.ts'
import { notificationOf } from './notification.ts'
import { createRounds } from './rounds.ts'

export type AudienceDeps = {
  readonly heads: HeadFeed
  /** feed of new pool transactions; absent: none are announced */
  readonly pending?: Pick<Filters, 'onPending'> | undefined
}

type Listener = Pick<Connection, 'notify' | 'headsMoved'>

/** The connections of a server, notified of heads and pool transactions. Disposing of it stops all notifications. */
export interface Audience<L extends Listener> extends Disposable {
  readonly connections: Set<L>
  /** connections with a subscription to pool transactions, which are too many to visit all connections for each */
  readonly pendingSubscribers: Set<L>
}

export function createAudience<L extends Listener>({ heads, pending }: AudienceDeps): Audience<L> {
  const connections = new Set<L>()
  const pendingSubscribers = new Set<L>()
  const notifyAll = createRounds(connections)
  const notifyPending = createRounds(pendingSubscribers)
  const feed = heads.subscribe((blocks) => {
    if (connections.size === 0) return
    const notifications = blocks.map((block) => notificationOf(headResult.encode(block)))
    notifyAll((connection) => {
      for (const notification of notifications) connection.notify('newHeads', notification)
      connection.headsMoved()
    })
  })
  const pendingFeed = pending?.onPending((hash) => {
    if (pendingSubscribers.size === 0) return
    const notification = notificationOf(hash)
    notifyPending((connection) => connection.notify('newPendingTransactions', notification))
  })
  return {
    connections,
    pendingSubscribers,
    [Symbol.dispose](): void {
      feed[Symbol.dispose]()
      pendingFeed?.[Symbol.dispose]()
    },
  }
}
