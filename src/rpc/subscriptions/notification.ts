import type { RpcError } from '../errors.ts'
import type { Json } from '../json.ts'

/** An `eth_subscription` notification without its subscription id, so that its result is encoded once for all subscribers. */
export type Notification = (subscription: string) => string

/** @see execution-apis, "eth_subscribe"; geth's real-time events */
export const notificationOf = (news: Json): Notification => notificationOfText(JSON.stringify(news))

/** Last notification of a subscription that the node ends, in the form of the server of Base's client. */
export const endNotification = (subscription: string, { code, message }: RpcError): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { subscription, error: { code, message } } })

/** @param result JSON text */
export function notificationOfText(result: string): Notification {
  return (subscription) =>
    `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":${JSON.stringify(subscription)},"result":${result}}}`
}
