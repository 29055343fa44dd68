import type { LogMatcher } from '#types/logMatcher'
import type { Feed } from '../../../context.ts'
import type { PendingFeed } from '../../../pendingPorts.ts'
import { notificationsOf } from './pendingNotifications.ts'

/** Feed of pending blocks: the whole block after each flashblock. */
export function flashblocksFeed(source: PendingFeed): Feed {
  return {
    kind: 'feed',
    open: (tell) =>
      source.subscribe((all) => {
        for (const news of all) if (news.kind === 'flashblock') tell(notificationsOf(news).blockFor(source))
      }),
  }
}

/** Feed of the new transactions of each flashblock, one by one. */
export function flashblockTransactionsFeed(source: PendingFeed, form: 'hashes' | 'whole'): Feed {
  return {
    kind: 'feed',
    open: (tell) =>
      source.subscribe((all) => {
        for (const news of all) if (news.kind === 'flashblock') for (const notification of notificationsOf(news)[form]) tell(notification)
      }),
  }
}

/** First transaction whose logs a subscriber got. Earlier logs are not sent as removed. */
type Start = { readonly number: number; readonly index: number }

function earlier(start: Start | undefined, number: number, index: number): Start {
  const isEarlier = start === undefined || number < start.number || (number === start.number && index < start.index)
  return isEarlier ? { number, index } : start
}

/** Feed of the new logs of each flashblock, and of dropped logs as `removed`. */
export function pendingLogsFeed(source: PendingFeed, matcher: LogMatcher): Feed {
  return {
    kind: 'feed',
    open(tell): Disposable {
      let start: Start | undefined
      const isSent = (number: number, index: number): boolean =>
        start !== undefined && (number > start.number || (number === start.number && index >= start.index))
      return source.subscribe((all) => {
        for (const news of all) {
          const notifications = notificationsOf(news)
          const { number } = news.pending
          if (news.kind === 'flashblock') start = earlier(start, number, notifications.first)
          for (const { placed, notification } of notifications.logs)
            if (isSent(number, placed.transactionIndex) && matcher.matches(placed.log)) tell(notification)
        }
      })
    },
  }
}
