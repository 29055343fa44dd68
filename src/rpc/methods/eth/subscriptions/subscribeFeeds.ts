import type { EthContext, Subscription } from '../../../context.ts'
import type { PendingMade } from '../../../filters/filters.ts'
import { type Json, JsonText } from '../../../json.ts'
import type { SyncProgress } from '../../../ports.ts'
import { type Notification, notificationOf, notificationOfText } from '../../../subscriptions/notification.ts'
import { getTransactionByHash } from '../blocks/transactions.ts'

/** Interval between checks of the sync state. */
const syncPollMs = 1_000

/** Result in the form of Base's client: progress in numbers, or false. */
const syncResult = (progress: SyncProgress | undefined): Json =>
  progress === undefined
    ? false
    : { syncing: true, startingBlock: progress.starting, currentBlock: progress.current, highestBlock: progress.highest }

/** Feed of the sync state: at the start, and when the node falls behind or catches up. */
export function syncingFeed({ chain, clock }: Pick<EthContext, 'chain' | 'clock'>): Subscription {
  return {
    kind: 'feed',
    open(tell): Disposable {
      let wasSyncing: boolean | undefined
      let timer: Disposable
      const look = (): void => {
        timer = clock.after(syncPollMs, look) // before `tell`, which may end the feed
        const progress = chain.sync()
        const isSyncing = progress !== undefined
        if (isSyncing !== wasSyncing) tell(notificationOf(syncResult(progress)))
        wasSyncing = isSyncing
      }
      look()
      return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
    },
  }
}

/** Notification with a whole transaction; undefined when it is neither in the pool nor in a block. */
async function wholeOf(context: EthContext, hash: Parameters<EthContext['filters']['notePending']>[0]): Promise<Notification | undefined> {
  const found = await getTransactionByHash.call({ ...context, cancellation: { isCancelled: false } }, [hash])
  const text = found instanceof JsonText ? found.text : JSON.stringify(found ?? null)
  return text === 'null' ? undefined : notificationOfText(text)
}

/** Feed of new pool transactions, whole. */
export function wholePendingFeed(context: EthContext): Subscription {
  const { filters } = context
  return {
    kind: 'feed',
    open: (tell) =>
      filters.onPending((hash, made: PendingMade) => {
        made.whole ??= wholeOf(context, hash).catch(() => undefined)
        void made.whole.then((notification) => notification && tell(notification))
      }),
  }
}
