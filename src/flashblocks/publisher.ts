import { Buffer } from 'node:buffer'
import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '#lib/clock'
import { hostInUrl, listen } from '#lib/listen'
import type { Log } from '#lib/log'
import type { BuiltFlashblock } from '#types/flashblock'
import { encodeMessage } from './encode.ts'
import type { PublisherMetrics } from './metrics.ts'
import { Subscribers } from './subscribers.ts'

export type PublisherDeps = { readonly clock: Clock; readonly log: Log; readonly metrics: PublisherMetrics }

export type PublisherOptions = {
  readonly host: string
  /** 0: any free port */
  readonly port: number
  /** the flag that sets the port, for faults; absent: flashblocks.port */
  readonly flag?: string
  /** subscribers at a time; absent: 100. One address has at most half of them. */
  readonly maxClients?: number
  /** bytes that one subscriber may have left unread when the next message is published; absent: 16 MB. More ends its connection. */
  readonly maxUnreadBytes?: number
}

/** Sends flashblocks to all subscribers while a block is built. Disposing ends all connections. */
export interface Publisher extends AsyncDisposable {
  readonly url: string
  publish(flashblock: BuiltFlashblock): void
}

/** Maximum size in bytes of a subscriber's message; the publisher ignores their content. */
const maxMessageBytes = 1_024

/** The messages of the newest block, for subscribers that connect in the middle of it. Each block has a list of its own. */
class Replay {
  #payloadId = ''
  #messages: Buffer[] = []

  add({ payloadId, index }: BuiltFlashblock, message: Buffer): void {
    if (index === 0 || payloadId !== this.#payloadId) this.#messages = []
    this.#payloadId = payloadId
    this.#messages.push(message)
  }

  get messages(): readonly Buffer[] {
    return this.#messages
  }
}

/**
 * Publishes over WebSocket, on any path, JSON as text. A new subscriber first gets the flashblocks so far of the newest block, each when it has taken the
 * one before; if another block begins meanwhile, it continues with that. A subscriber that reads too slowly or answers no ping is disconnected; other
 * subscribers are not affected.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function createPublisher(deps: PublisherDeps, options: PublisherOptions): Promise<Publisher> {
  const { log, metrics } = deps
  const { host, port, flag = 'flashblocks.port', maxClients = 100, maxUnreadBytes = 16 * 2 ** 20 } = options
  const http = createServer(
    (_request, response) => void response.writeHead(426, { connection: 'close' }).end('this port serves WebSockets only\n'),
  )
  const address = await listen(http, { host, port, flag })
  const sockets = new WebSocketServer({
    ...{ noServer: true, perMessageDeflate: false, clientTracking: false },
    ...{ maxPayload: maxMessageBytes, autoPong: false },
  })
  const subscribers = new Subscribers(deps, maxClients)
  const replay = new Replay()
  /** subscribers that have not taken all messages of the replay */
  const joining = new WeakSet<WebSocket>()

  function send(socket: WebSocket, message: Buffer): void {
    const { bufferedAmount: unreadBytes } = socket
    if (unreadBytes <= maxUnreadBytes) {
      socket.send(message, { binary: false })
      return
    }
    metrics.dropped.inc({ reason: 'slow' })
    log.warn('subscriber disconnected, reads flashblocks too slowly', { unreadBytes })
    socket.terminate()
  }

  function join(socket: WebSocket): void {
    joining.add(socket)
    let { messages } = replay
    let at = 0
    const sendNext = (): void => {
      if (messages !== replay.messages) at = 0
      messages = replay.messages
      const message = messages[at++]
      if (message && socket.readyState === socket.OPEN) socket.send(message, { binary: false }, sendNext)
      else joining.delete(socket)
    }
    sendNext()
  }

  http.on('connection', (socket) => subscribers.arrive(socket))
  http.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      if (subscribers.admit(client, request.socket)) join(client)
    })
  })
  return {
    url: `ws://${hostInUrl(address.address)}:${address.port}`,
    publish(flashblock): void {
      const message = Buffer.from(encodeMessage(flashblock))
      replay.add(flashblock, message)
      metrics.published.inc({})
      metrics.bytes.inc({}, message.length)
      for (const client of subscribers) if (client.readyState === client.OPEN && !joining.has(client)) send(client, message)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      subscribers[Symbol.dispose]()
      http.closeAllConnections()
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      sockets.close()
      await closed
      metrics.clients.set({}, 0)
    },
  }
}
