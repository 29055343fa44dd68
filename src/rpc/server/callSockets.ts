import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '#lib/log'
import { serverBusy } from '../errors.ts'
import type { ByteBudget } from './body.ts'
import { ShareCaller } from './caller.ts'
import type { Dispatcher } from './dispatch.ts'
import { type Answer, errorText } from './messages.ts'
import { answerPings } from './pongs.ts'
import type { AnswerShare, Unread, UnreadTotal } from './unread.ts'

export type CallSocketLimits = {
  readonly maxSockets: number
  readonly maxMessageBytes: number
  /** unread bytes of answers at which a connection is ended */
  readonly maxUnreadBytes: number
}

/** WebSocket connections on which each message is a call, answered by one message: the Engine API. `close` ends all of them. */
export interface CallSockets {
  readonly isFull: boolean
  /** Takes over the connection of an admitted upgrade request. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  close(): void
}

export type CallSocketDeps = {
  readonly dispatcher: Dispatcher
  readonly budget: ByteBudget
  /** unread answers of all connections of the server */
  readonly unreadTotal: UnreadTotal
  readonly log: Log
}

/** Idle time after which TCP keep-alive probes begin. */
const keepAliveMs = 30_000

export function createCallSockets(
  { dispatcher, budget, unreadTotal, log }: CallSocketDeps,
  { maxSockets, maxMessageBytes, maxUnreadBytes }: CallSocketLimits,
): CallSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: maxMessageBytes,
  })

  async function answerTo(bytes: Buffer, share: AnswerShare): Promise<Answer | undefined> {
    using hold = budget.hold()
    if (!hold.take(bytes.length)) return errorText(null, serverBusy({ limit: 'bytes', max: budget.maxBytes }))
    return await dispatcher.answer(bytes, new ShareCaller(share))
  }

  async function answer(socket: WebSocket, bytes: Buffer, unread: Unread): Promise<void> {
    try {
      using share = unread.share()
      const answered = await answerTo(bytes, share)
      const large = share.takeLarge()
      share[Symbol.dispose]() // from here on the sent message counts
      if (answered === undefined) return large?.[Symbol.dispose]()
      const message = typeof answered === 'string' ? answered : answered.joined()
      const sentBytes = Buffer.byteLength(message)
      unread.add(sentBytes)
      if (unread.isGone) return
      socket.send(message, { binary: false }, () => {
        unread.add(-sentBytes)
        large?.[Symbol.dispose]()
      })
      if (socket.bufferedAmount > maxUnreadBytes) socket.terminate()
    } catch (error) {
      log.error('rpc request failed', { error })
      socket.terminate()
    }
  }

  function serve(socket: WebSocket): void {
    const unread = unreadTotal.join('websocket', () => socket.terminate())
    answerPings(socket)
    socket.once('close', () => unread[Symbol.dispose]())
    socket.on('error', (error) => log.debug('rpc connection failed', { error }))
    socket.on('message', (data) => void answer(socket, data as Buffer, unread))
  }

  return {
    get isFull(): boolean {
      return sockets.clients.size >= maxSockets
    },
    accept(request, socket, head): void {
      ;(socket as Socket).setKeepAlive(true, keepAliveMs)
      sockets.handleUpgrade(request, socket, head, serve)
    },
    close(): void {
      for (const socket of sockets.clients) socket.terminate()
    },
  }
}
