import type { HeadBlock } from '../ports.ts'
import { headResult } from '../results/block.ts'

/** An `eth_subscription` notification for any subscription: the block is encoded once for all of them. */
export type Notification = (subscription: string) => string

/** @see execution-apis, "eth_subscribe"; geth's real-time events, "newHeads" */
export function newHeadsNotification(block: HeadBlock): Notification {
  const result = JSON.stringify(headResult.encode(block))
  return (subscription) =>
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":${JSON.stringify(subscription)},"result":${result}}}`
}
