import type { Filters } from '../filters.ts'
import type { HeadFeed } from '../ports.ts'
import { headResult } from '../results/block.ts'
import type { Connection } from './connection.ts'
import { notificationOf } from './notification.ts'

export type AudienceDeps = {
  readonly heads: HeadFeed
  /** of transactions that are new in the pool; absent: nobody is told of them */
  readonly pending?: Pick<Filters, 'onPending'> | undefined
}

type Listener = Pick<Connection, 'notify' | 'headsMoved'>

/** The connections of a server, which hear of heads and of the pool. Disposing of it: they hear nothing any more. */
export interface Audience<L extends Listener> extends Disposable {
  readonly connections: Set<L>
}

/** Connections that are told something in one turn of the event loop; then others have theirs. */
const perTurn = 128
/** Things to be told that may wait while connections are told of others; beyond it all are told at once, whoever waits for it. */
const maxWaiting = 1_024

/** Visits all connections in slices, with one thing after the other: each connection hears them in order. */
function createRounds<L>(connections: ReadonlySet<L>): (visit: (connection: L) => void) => void {
  const waiting: Generator<void>[] = []
  function* round(visit: (connection: L) => void): Generator<void> {
    let visited = 0
    for (const connection of connections) {
      if (visited > 0 && visited % perTurn === 0) yield
      visit(connection)
      visited++
    }
  }
  let isScheduled = false
  function turn(): void {
    while (waiting[0] !== undefined) {
      if (waiting[0].next().done === true) waiting.shift()
      else if (waiting.length <= maxWaiting) {
        schedule()
        return
      }
    }
  }
  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      turn()
    })
  }
  return (visit) => {
    waiting.push(round(visit))
    if (!isScheduled || waiting.length > maxWaiting) turn()
  }
}

export function createAudience<L extends Listener>({ heads, pending }: AudienceDeps): Audience<L> {
  const connections = new Set<L>()
  const tellAll = createRounds(connections)
  const feed = heads.subscribe((blocks) => {
    if (connections.size === 0) return
    const notifications = blocks.map((block) => notificationOf(headResult.encode(block)))
    tellAll((connection) => {
      for (const notification of notifications) connection.notify('newHeads', notification)
      connection.headsMoved()
    })
  })
  const pendingFeed = pending?.onPending((hash) => {
    if (connections.size === 0) return
    const notification = notificationOf(hash)
    tellAll((connection) => connection.notify('newPendingTransactions', notification))
  })
  return {
    connections,
    [Symbol.dispose](): void {
      feed[Symbol.dispose]()
      pendingFeed?.[Symbol.dispose]()
    },
  }
}
