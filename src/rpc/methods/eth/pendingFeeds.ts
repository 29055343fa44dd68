import { LogMatcher } from '#types/logMatcher'
import { DecodedBlock } from '../../blockCache.ts'
import type { LogFilter } from '../../codecs/logFilter.ts'
import type { Subscription } from '../../context.ts'
import type { PendingBlock, PendingFeed, PendingNews } from '../../pendingPorts.ts'
import { logText, type PlacedLog } from '../../results/log.ts'
import { listText } from '../../results/text.ts'
import { transactionText } from '../../results/transaction.ts'
import { type Notification, notificationOf, notificationOfText } from '../../subscriptions/notification.ts'
import { logsIn } from './blockLogs.ts'

type ToldLog = { readonly placed: PlacedLog; readonly notification: Notification }

const anyLog = new LogMatcher({ addresses: [], topics: [] })

/** What can be told of one piece of news: each form is made once, for the first who wants it. */
class ToldNews {
  readonly #decoded: DecodedBlock
  /** index of the first transaction that it is about; it is about all from there on */
  readonly first: number
  readonly #isRemoved: boolean
  #block: Notification | undefined
  #hashes: readonly Notification[] | undefined
  #whole: readonly Notification[] | undefined
  #logs: readonly ToldLog[] | undefined

  constructor(news: PendingNews) {
    this.#decoded = decodedOf(news.pending)
    this.first = news.kind === 'increment' ? news.firstNew : news.first
    this.#isRemoved = news.kind === 'dropped'
  }

  /** The block with all its transactions. */
  get block(): Notification {
    this.#block ??= notificationOfText(String(this.#decoded.text.block('full')))
    return this.#block
  }

  get hashes(): readonly Notification[] {
    this.#hashes ??= this.#indexes().map((index) => notificationOf(this.#decoded.hashAt(index)))
    return this.#hashes
  }

  /** The transactions, each with its logs. */
  get whole(): readonly Notification[] {
    this.#whole ??= this.#indexes().flatMap((index) => {
      const transaction = this.#decoded.transaction(index)
      if (transaction === undefined) return []
      const logs = listText(logsIn(this.#decoded, anyLog, [index]), logText)
      return [notificationOfText(`${transactionText(transaction).slice(0, -1)},"logs":${logs}}`)]
    })
    return this.#whole
  }

  get logs(): readonly ToldLog[] {
    this.#logs ??= logsIn(this.#decoded, anyLog, this.#indexes()).map((found) => {
      const placed = this.#isRemoved ? { ...found, isRemoved: true } : found
      return { placed, notification: notificationOfText(logText(placed)) }
    })
    return this.#logs
  }

  #indexes(): number[] {
    return Array.from({ length: Math.max(0, this.#decoded.count - this.first) }, (_, at) => this.first + at)
  }
}

const decodedBlocks = new WeakMap<PendingBlock, DecodedBlock>()
const toldNews = new WeakMap<PendingNews, ToldNews>()

function decodedOf(pending: PendingBlock): DecodedBlock {
  const known = decodedBlocks.get(pending)
  if (known) return known
  const made = new DecodedBlock(pending.block, pending.receipts, 'unsealed')
  decodedBlocks.set(pending, made)
  return made
}

function toldOf(news: PendingNews): ToldNews {
  const known = toldNews.get(news)
  if (known) return known
  const made = new ToldNews(news)
  toldNews.set(news, made)
  return made
}

/** Each increment as the whole block that it makes. */
export function flashblocksFeed(source: PendingFeed): Subscription {
  return {
    kind: 'feed',
    open: (tell) =>
      source.subscribe((all) => {
        for (const news of all) if (news.kind === 'increment') tell(toldOf(news).block)
      }),
  }
}

/** The transactions that are new in each increment, one by one. */
export function flashblockTransactionsFeed(source: PendingFeed, form: 'hashes' | 'whole'): Subscription {
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

/** The logs of what is new in each increment, and again, `removed`, those of what was dropped. */
export function pendingLogsFeed(source: PendingFeed, filter: Pick<LogFilter, 'addresses' | 'topics'>): Subscription {
  const matcher = new LogMatcher(filter)
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
