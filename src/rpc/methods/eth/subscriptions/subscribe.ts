import { trailFrom } from '../../../chainTrail.ts'
import { type LogFilter, logFilter } from '../../../codecs/logFilter.ts'
import { flag, text } from '../../../codecs/values.ts'
import type { SocketContext } from '../../../context.ts'
import { invalidParams, unsupported } from '../../../errors.ts'
import type { LogsFilter } from '../../../filters.ts'
import { isJsonObject } from '../../../json.ts'
import type { PendingFeed } from '../../../pendingPorts.ts'
import { optionalParam, type ParamCodec, param } from '../../../registry.ts'
import { logText } from '../../../results/log.ts'
import { refTo } from '../../../schemas.ts'
import { socketMethod } from '../../define.ts'
import { newLogs } from '../filters/filters.ts'
import { flashblocksFeed, flashblockTransactionsFeed, pendingLogsFeed } from './pendingFeeds.ts'
import { syncingFeed, wholePendingFeed } from './subscribeFeeds.ts'

/** Kinds that tell of flashblocks, and what to ask for where there are none. */
const flashblockKinds = { newFlashblocks: 'newHeads', pendingLogs: 'logs', newFlashblockTransactions: 'newHeads' } as const

type Detail = LogFilter | boolean | undefined

const detail: ParamCodec<Detail> = {
  doc: 'of logs and pendingLogs {address, topics}, as in eth_newFilter; of newPendingTransactions and newFlashblockTransactions whether they are told whole',
  schema: { anyOf: [refTo('LogFilter'), { type: 'boolean' }] },
  parse: (value) => (isJsonObject(value) ? logFilter.parse(value) : flag.parse(value)),
}

const everything: LogFilter = logFilter.parse({})

function subscribeToLogs(context: SocketContext, { range, ...wanted }: LogFilter): string {
  using view = context.chain.view()
  const use = context.filters.matcherFor(wanted)
  const followed: LogsFilter = { kind: 'logs', range, use, trail: trailFrom(view.heads.latest) }
  const searching = { ...context, cancellation: { isCancelled: false } }
  const changes = async (): Promise<readonly string[]> => (await newLogs(searching, followed)).map(logText)
  return context.subscriptions.subscribe({ kind: 'logs', changes, use })
}

function subscribeToPendingLogs(
  { filters, subscriptions }: SocketContext,
  source: PendingFeed,
  { range: _range, ...wanted }: LogFilter,
): string {
  const use = filters.matcherFor(wanted)
  return subscriptions.subscribe({ ...pendingLogsFeed(source, use.matcher), use })
}

function preconfirmedOf({ preconfirmed }: SocketContext, kind: keyof typeof flashblockKinds): PendingFeed {
  if (preconfirmed) return preconfirmed
  throw unsupported(`eth_subscribe ${kind}: this node has no feed of flashblocks, ${flashblockKinds[kind]} tells of blocks`)
}

function subscribeTo(context: SocketContext, kind: string, of: Detail): string {
  const [isWhole, filter] = typeof of === 'boolean' ? [of, undefined] : [false, of]
  const { subscriptions } = context
  switch (kind) {
    case 'newHeads':
      return subscriptions.subscribe({ kind })
    case 'newPendingTransactions':
      return subscriptions.subscribe(isWhole ? wholePendingFeed(context) : { kind })
    case 'syncing':
      return subscriptions.subscribe(syncingFeed(context))
    case 'logs':
      return subscribeToLogs(context, filter ?? everything)
    case 'newFlashblocks':
      return subscriptions.subscribe(flashblocksFeed(preconfirmedOf(context, kind)))
    case 'newFlashblockTransactions':
      return subscriptions.subscribe(flashblockTransactionsFeed(preconfirmedOf(context, kind), isWhole ? 'whole' : 'hashes'))
    case 'pendingLogs':
      return subscribeToPendingLogs(context, preconfirmedOf(context, kind), filter ?? everything)
    default:
      throw invalidParams(`unknown subscription ${kind.slice(0, 80)}`)
  }
}

export const subscribe = socketMethod({
  name: 'eth_subscribe',
  doc: 'Asks to be told by `eth_subscription` notifications: `newHeads`: the header of each new canonical block, oldest first, after a reorg those of the new branch; `logs`: each log of new blocks that matches, and again with `removed` true when its block is not canonical any more; `newPendingTransactions`: each transaction that is sent to the pool of this node or through it to the sequencer, its hash, or with `true` the whole of it; `syncing`: where the node stands, and again when it has caught up or fallen behind. Where blocks are followed before they are sealed: `newFlashblocks`: the block as far as it is known, whole, after each flashblock; `newFlashblockTransactions`: each transaction that is new in one, its hash, or with `true` the whole of it with its logs; `pendingLogs`: each log of these that matches, and again with `removed` true when its transaction will not be where it was told.',
  params: [param('kind', text), optionalParam('filter', detail, undefined, 'all logs')],
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
