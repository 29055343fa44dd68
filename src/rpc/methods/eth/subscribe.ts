import { flag, text } from '../../codecs/values.ts'
import { invalidParams, unsupported } from '../../errors.ts'
import { param } from '../../registry.ts'
import { socketMethod } from '../define.ts'

/** Kinds that other clients have and this one does not. */
const otherKinds: readonly string[] = [
  'logs',
  'newPendingTransactions',
  'syncing',
  'newFlashblocks',
  'pendingLogs',
  'newFlashblockTransactions',
]

export const subscribe = socketMethod({
  name: 'eth_subscribe',
  doc: 'Asks to be told of each new canonical block: an `eth_subscription` notification with its header, oldest first; after a reorg those of the new branch. Only `newHeads` exists.',
  params: [param('kind', text)],
  result: text,
  cost: 'instant',
  example: { params: ['newHeads'], result: '0x9ce59a13059e417087c02d3236a0b1cc' },
  run(context, kind): string {
    if (kind === 'newHeads') return context.subscriptions.subscribe(kind)
    throw otherKinds.includes(kind) ? unsupported(`eth_subscribe ${kind}`) : invalidParams(`unknown subscription ${kind.slice(0, 80)}`)
  },
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
