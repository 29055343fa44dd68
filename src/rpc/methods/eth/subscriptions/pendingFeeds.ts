import type { LogMatcher } from '#types/logMatcher'
import type { Feed } from '../../../context.ts'
import type { PendingFeed } from '../../../pendingPorts.ts'
import { toldOf } from './pendingNotifications.ts'

/** Each flashblock as the whole block that it makes. */
export function flashblocksFeed(source: PendingFeed): Feed {
  return {
    kind: 'feed',
    open: (tell) =>
      source.subscribe((all) => {
        for (const news of all) if (news.kind === 'increment') tell(toldOf(news).blockFor(source))
      }),
  }
}

/** The transactions that are new in each flashblock, one by one. */
export function flashblockTransactionsFeed(source: PendingFeed, form: 'hashes' | 'whole'): Feed {
  return {
    kind: 'feed',
    open: (tell) =>
      source.subscribe((all) => {
        for (const news of all) if (news.kind === 'increment') for (const notification of toldOf(news)[form]) tell(notification)
      }),
  }
}

/** From where on one was told of logs: nothing before it is taken back. */
type Start = { readonly number: number; readonly index: number }

function earlier(start: Start | undefined, number: number, index: number): Start {
  const isEarlier = start === undefined || number < start.number || (number === start.number && index < start.index)
  return isEarlier ? { number, index } : start
}

/** The logs of what is new in each flashblock, and again, `removed`, those of what was dropped. */
export function pendingLogsFeed(source: PendingFeed, matcher: LogMatcher): Feed {
  return {
    kind: 'feed',
    open(tell): Disposable {
      let start: Start | undefined
      const isTold = (number: number, index: number): boolean =>
        start !== undefined && (number > start.number || (number === start.number && index >= start.index))
      return source.subscribe((all) => {
        for (const news of all) {
          const told = toldOf(news)
          const { number } = news.pending.block.block.header
          if (news.kind === 'increment') start = earlier(start, number, told.first)
          for (const { placed, notification } of told.logs)
            if (isTold(number, placed.transactionIndex) && matcher.matches(placed.log)) tell(notification)
        }
      })
    },
  }
}
