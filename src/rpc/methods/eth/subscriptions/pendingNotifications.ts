import { LogMatcher } from '#types/logMatcher'
import { DecodedBlock } from '../../../blockCache.ts'
import type { PendingBlock, PendingFeed, PendingNews } from '../../../pendingPorts.ts'
import { type LocatedLog, logText } from '../../../results/log.ts'
import { listText } from '../../../results/text.ts'
import { transactionText } from '../../../results/transaction.ts'
import { type Notification, notificationOf, notificationOfText } from '../../../subscriptions/notification.ts'
import { logsIn } from '../logs/blockLogs.ts'

type NotifiedLog = { readonly placed: LocatedLog; readonly notification: Notification }

const anyLog = new LogMatcher({ addresses: [], topics: [] })

/** What can be told of one piece of news: each form is made once, for the first who wants it. */
class PendingNotifications {
  readonly #pending: PendingBlock
  readonly #decoded: DecodedBlock
  /** index of the first transaction that it is about; it is about all from there on */
  readonly first: number
  readonly #isRemoved: boolean
  #block: Notification | undefined
  #hashes: readonly Notification[] | undefined
  #whole: readonly Notification[] | undefined
  #logs: readonly NotifiedLog[] | undefined

  constructor(news: PendingNews) {
    this.#pending = news.pending
    this.#decoded = decodedOf(news.pending)
    this.first = news.kind === 'increment' ? news.firstNew : news.first
    this.#isRemoved = news.kind === 'dropped'
  }

  /** The block with all its transactions. @param source who told the news, and those before them */
  blockFor(source: PendingFeed): Notification {
    this.#block ??= notificationOfText(wholeText(source, this.#pending))
    return this.#block
  }

  get hashes(): readonly Notification[] {
    this.#hashes ??= this.#indexes().map((index) => notificationOf(this.#decoded.hashAt(index)))
    return this.#hashes
  }

  /** The transactions, each with its logs. */
  get whole(): readonly Notification[] {
    this.#whole ??= this.#indexes().map((index) => {
      const logs = listText(logsIn(this.#decoded, anyLog, [index]), logText)
      return notificationOfText(`${textAt(this.#decoded, index).slice(0, -1)},"logs":${logs}}`)
    })
    return this.#whole
  }

  get logs(): readonly NotifiedLog[] {
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

function textAt(block: DecodedBlock, index: number): string {
  const mined = block.transaction(index)
  if (mined === undefined) throw new RangeError(`transaction ${index} of ${block.count}`)
  return transactionText(mined)
}

/** The block that was told last, whole: the next flashblock adds to its text. */
const lastTold = new WeakMap<PendingFeed, DecodedBlock>()

function wholeText(source: PendingFeed, { block, receipts }: PendingBlock): string {
  const decoded = new DecodedBlock(block, receipts, { seal: 'unsealed', before: lastTold.get(source) })
  lastTold.set(source, decoded)
  return String(decoded.text.block('full'))
}

const decodedBlocks = new WeakMap<PendingBlock, DecodedBlock>()
const toldNews = new WeakMap<PendingNews, PendingNotifications>()

function decodedOf(pending: PendingBlock): DecodedBlock {
  const known = decodedBlocks.get(pending)
  if (known) return known
  const made = new DecodedBlock(pending.block, pending.receipts, { seal: 'unsealed' })
  decodedBlocks.set(pending, made)
  return made
}

/** What subscribers are told of news, the same for all of them. */
export function toldOf(news: PendingNews): PendingNotifications {
  const known = toldNews.get(news)
  if (known) return known
  const made = new PendingNotifications(news)
  toldNews.set(news, made)
  return made
}
