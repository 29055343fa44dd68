import { type LogFilter, logFilter } from '../../../codecs/logFilter.ts'
import { type ReceiptFilter, receiptFilter } from '../../../codecs/receiptFilter.ts'
import { flag, text } from '../../../codecs/values.ts'
import type { ChainChanges, SocketContext } from '../../../context.ts'
import { flashblocksEnded, invalidParams, type RpcError, unsupported } from '../../../errors.ts'
import type { LogsFilter } from '../../../filters/filters.ts'
import { isJsonObject } from '../../../json.ts'
import type { PendingFeed } from '../../../pendingPorts.ts'
import { refTo } from '../../../reference/schemas.ts'
import { optionalParam, type ParamCodec, param } from '../../../registry.ts'
import { type LocatedLog, logText } from '../../../results/log.ts'
import { socketMethod } from '../../define.ts'
import { isDenimHead } from '../atBlock.ts'
import { newLogs } from '../filters/filters.ts'
import { trailFromHead } from '../filters/followChain.ts'
import { flashblocksFeed, flashblockTransactionsFeed, pendingLogsFeed } from './pendingFeeds.ts'
import { receiptsSubscription } from './receiptsSubscription.ts'
import { syncingFeed, wholePendingFeed } from './subscribeFeeds.ts'

/** Subscriptions to flashblocks, and their alternatives from Denim on and on a node without a feed. */
const flashblockKinds = {
  newFlashblocks: 'newHeads',
  pendingLogs: 'logs',
  newFlashblockTransactions: 'newHeads and eth_getBlockByHash',
} as const

type Detail = LogFilter | ReceiptFilter | boolean | undefined

const detail: ParamCodec<Detail> = {
  doc: 'for logs and pendingLogs: {address, topics}, as in eth_newFilter; for transactionReceipts: {transactionHashes}, at most 200; for newPendingTransactions and newFlashblockTransactions: true for whole transactions',
  schema: { anyOf: [refTo('LogFilter'), receiptFilter.schema ?? {}, { type: 'boolean' }] },
  parse(value): Detail {
    if (!isJsonObject(value)) return flag.parse(value)
    return 'transactionHashes' in value ? receiptFilter.parse(value) : logFilter.parse(value)
  },
}

const everything: LogFilter = logFilter.parse({})

/** Makes the text of each log when it is sent: a client may read slowly. */
function* textsOf(logs: readonly LocatedLog[]): Iterable<string> {
  for (const log of logs) yield logText(log)
}

function subscribeToLogs(context: SocketContext, { range, ...wanted }: LogFilter): string {
  using view = context.chain.view()
  const use = context.filters.matcherFor(wanted)
  const followed: LogsFilter = { kind: 'logs', range, use, trail: trailFromHead(context, view) }
  const searching = { ...context, cancellation: { isCancelled: false } }
  const changes = async (): Promise<ChainChanges> => {
    const { logs, isEnd } = await newLogs(searching, followed)
    return { texts: textsOf(logs), isEnd }
  }
  return context.subscriptions.subscribe({ kind: 'changes', changes, use })
}

function subscribeToPendingLogs(context: SocketContext, { range: _range, ...wanted }: LogFilter): string {
  const source = preconfirmedOf(context, 'pendingLogs')
  const use = context.filters.matcherFor(wanted)
  const ended = (): RpcError | undefined => endOf(context, 'pendingLogs')
  return context.subscriptions.subscribe({ ...pendingLogsFeed(source, use.matcher), use, ended })
}

/** Returns the error of a subscription to flashblocks when the head is a Denim block. */
function endOf(context: SocketContext, kind: keyof typeof flashblockKinds): RpcError | undefined {
  using view = context.chain.view()
  return isDenimHead(context, view) ? flashblocksEnded(kind, flashblockKinds[kind]) : undefined
}

function preconfirmedOf(context: SocketContext, kind: keyof typeof flashblockKinds): PendingFeed {
  const end = endOf(context, kind)
  if (end) throw end
  if (context.preconfirmed) return context.preconfirmed
  throw unsupported(`eth_subscribe ${kind}: this node has no feed of flashblocks, use ${flashblockKinds[kind]}`)
}

/** Codes and texts for a parameter of another kind of subscription are those of Base's client. */
function logsWanted(kind: string, of: Detail): LogFilter {
  if (typeof of === 'object' && 'transactionHashes' in of) throw invalidParams(`Invalid params for ${kind}`)
  return typeof of === 'object' ? of : everything
}

function receiptsWanted(kind: string, of: Detail): ReceiptFilter {
  if (of === undefined) return { transactionHashes: [] }
  if (typeof of === 'object' && 'transactionHashes' in of) return of
  throw invalidParams(`Invalid params for ${kind}`)
}

function subscribeTo(context: SocketContext, kind: string, of: Detail): string {
  const isWhole = of === true
  const { subscriptions } = context
  switch (kind) {
    case 'newHeads':
      return subscriptions.subscribe({ kind })
    case 'newPendingTransactions':
      return subscriptions.subscribe(isWhole ? wholePendingFeed(context) : { kind })
    case 'syncing':
      return subscriptions.subscribe(syncingFeed(context))
    case 'logs':
      return subscribeToLogs(context, logsWanted(kind, of))
    case 'transactionReceipts':
      return subscriptions.subscribe(receiptsSubscription(context, receiptsWanted(kind, of)))
    case 'newFlashblocks':
      return subscriptions.subscribe({ ...flashblocksFeed(preconfirmedOf(context, kind)), ended: () => endOf(context, kind) })
    case 'newFlashblockTransactions':
      return subscriptions.subscribe({
        ...flashblockTransactionsFeed(preconfirmedOf(context, kind), isWhole ? 'whole' : 'hashes'),
        ended: () => endOf(context, kind),
      })
    case 'pendingLogs':
      return subscribeToPendingLogs(context, logsWanted(kind, of))
    default:
      throw invalidParams(`unknown subscription ${kind.slice(0, 80)}`)
  }
}

export const subscribe = socketMethod({
  name: 'eth_subscribe',
  doc: 'Subscribes to `eth_subscription` notifications. `newHeads`: the header of each new canonical block, oldest first; after a reorg, the headers of the new branch. `logs`: each matching log of new blocks, and again with `removed` true when its block is no longer canonical. `transactionReceipts`: the receipts of each new canonical block as a list, as in eth_getBlockReceipts; with hashes, the receipts of these transactions only, and no notification of a block without them; after a reorg, those of the blocks of the new branch. `newPendingTransactions`: the hash of each transaction that is new in the pool of this node or forwarded by it to the sequencer; with `true`, the whole transaction. `syncing`: the sync state, and each change of it. On a node that follows flashblocks, before Denim, also: `newFlashblocks`: the whole pending block after each flashblock. `newFlashblockTransactions`: the hash of each new transaction of a flashblock; with `true`, the whole transaction with its logs. `pendingLogs`: each matching log of these transactions, and again with `removed` true when its transaction is dropped from its position. From Denim on these three are refused, and running ones end with a notification whose `params` have an `error` instead of a `result`.',
  params: [param('kind', text), optionalParam('filter', detail, undefined, 'all logs, all receipts')],
  result: text,
  cost: 'instant',
  example: { params: ['newHeads'], result: '0x9ce59a13059e417087c02d3236a0b1cc' },
  run: subscribeTo,
})

export const unsubscribe = socketMethod({
  name: 'eth_unsubscribe',
  doc: 'Ends a subscription of this connection.',
  params: [param('subscription', text)],
  result: flag,
  cost: 'instant',
  example: { params: ['0x9ce59a13059e417087c02d3236a0b1cc'], result: true },
  run: (context, id) => context.subscriptions.unsubscribe(id),
})
