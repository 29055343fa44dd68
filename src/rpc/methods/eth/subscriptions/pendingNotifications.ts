import { chainBlockOf, type PendingBlock } from '#types/pendingBlock'
import { DecodedBlock } from '../../../cache/blockCache.ts'
import type { PendingFeed, PendingNews } from '../../../pendingPorts.ts'
import { type LocatedLog, logText } from '../../../results/log.ts'
import { listText } from '../../../results/text.ts'
import { transactionText } from '../../../results/transaction.ts'
import { type Notification, notificationOf, notificationOfText } from '../../../subscriptions/notification.ts'

type NotifiedLog = { readonly placed: LocatedLog; readonly notification: Notification }

/** Notifications of one change of pending blocks. Each form is encoded once, on first use. */
class PendingNotifications {
  readonly #decoded: DecodedBlock
  /** index of the first affected transaction; all later ones are affected too */
  readonly first: number
  readonly #isRemoved: boolean
  #block: Notification | undefined
  #hashes: readonly Notification[] | undefined
  #whole: readonly Notification[] | undefined
  #logs: readonly NotifiedLog[] | undefined

  constructor(news: PendingNews) {
    this.#decoded = decodedOf(news)
    this.first = news.kind === 'flashblock' ? news.firstNew : news.first
    this.#isRemoved = news.kind === 'dropped'
  }

  /** Notification with the whole block. @param source the feed, whose previous block is extended */
  blockFor(source: PendingFeed): Notification {
    this.#block ??= notificationOfText(wholeText(source, this.#decoded))
    return this.#block
  }

  get hashes(): readonly Notification[] {
    this.#hashes ??= this.#indexes().map((index) => notificationOf(this.#decoded.hashAt(index)))
    return this.#hashes
  }

  /** Transactions with their logs. */
  get whole(): readonly Notification[] {
    this.#whole ??= this.#indexes().map((index) => {
      const logs = listText(this.#decoded.logs(undefined, [index]), logText)
      return notificationOfText(`${textAt(this.#decoded, index).slice(0, -1)},"logs":${logs}}`)
    })
    return this.#whole
  }

  get logs(): readonly NotifiedLog[] {
    this.#logs ??= this.#decoded.logs(undefined, this.#indexes()).map((found) => {
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

/** The last whole block of each feed, whose text the next flashblock extends. */
const lastTold = new WeakMap<PendingFeed, DecodedBlock>()

function wholeText(source: PendingFeed, { of, receipts }: DecodedBlock): string {
  const decoded = new DecodedBlock(of, receipts, { seal: 'unsealed', before: lastTold.get(source) })
  lastTold.set(source, decoded)
  return String(decoded.text.block('full'))
}

const decodedBlocks = new WeakMap<PendingBlock, DecodedBlock>()
const toldNews = new WeakMap<PendingNews, PendingNotifications>()

function decodedOf({ pending, receipts }: PendingNews): DecodedBlock {
  const known = decodedBlocks.get(pending)
  if (known) return known
  const made = new DecodedBlock(chainBlockOf(pending), receipts(), { seal: 'unsealed' })
  decodedBlocks.set(pending, made)
  return made
}

/** Notifications of a change, shared by all subscribers. */
export function notificationsOf(news: PendingNews): PendingNotifications {
  const known = toldNews.get(news)
  if (known) return known
  const made = new PendingNotifications(news)
  toldNews.set(news, made)
  return made
}
