import type { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Log } from '#lib/log'
import { parseError, serverBusy } from '../errors.ts'
import { type ByteBudget, parseJson } from './body.ts'
import { type Caller, type Dispatcher, errorText } from './dispatch.ts'
import { answerPings } from './pongs.ts'

export type CallSocketLimits = {
  readonly maxSockets: number
  readonly maxMessageBytes: number
  /** of answers that a client does not read; then its connection ends */
  readonly maxUnreadBytes: number
}

/** Connections over which calls come as messages, each answered by one: the Engine API over WebSocket. Closing ends them all. */
export interface CallSockets {
  readonly isFull: boolean
  /** Takes over the connection of an upgrade request that may come in. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void
  close(): void
}

/** After so long without a byte the system asks whether the other side is there. */
const keepAliveMs = 30_000

export function createCallSockets(
  { dispatcher, budget, log }: { readonly dispatcher: Dispatcher; readonly budget: ByteBudget; readonly log: Log },
  { maxSockets, maxMessageBytes, maxUnreadBytes }: CallSocketLimits,
): CallSockets {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: maxMessageBytes,
  })

  async function textFor(bytes: Buffer, caller: Caller): Promise<string | undefined> {
    using hold = budget.hold()
    if (!hold.take(bytes.length)) return errorText(null, serverBusy())
    const parsed = parseJson(bytes)
    return parsed === undefined ? errorText(null, parseError()) : await dispatcher.answer(parsed.value, caller)
  }

  async function answer(socket: WebSocket, bytes: Buffer, caller: Caller): Promise<void> {
    try {
      const text = await textFor(bytes, caller)
      if (text === undefined || caller.isGone) return
      socket.send(text)
      if (socket.bufferedAmount > maxUnreadBytes) socket.terminate()
    } catch (error) {
      log.error('rpc request failed', { error })
      socket.terminate()
    }
  }

  function serve(socket: WebSocket): void {
    const caller = { isGone: false }
    answerPings(socket)
    socket.on('close', () => {
      caller.isGone = true
    })
    socket.on('error', (error) => log.debug('rpc connection failed', { error }))
    socket.on('message', (data) => void answer(socket, data as Buffer, caller))
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
