import { Buffer } from 'node:buffer'
import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { hostInUrl, listen } from '#lib/listen'
import type { Log } from '#lib/log'
import type { BuiltIncrement } from '#types/increment'
import { encodeFrame } from './encode.ts'
import type { PublisherMetrics } from './metrics.ts'

export type PublisherDeps = { readonly log: Log; readonly metrics: PublisherMetrics }

export type PublisherOptions = {
  readonly host: string
  /** 0: any free one */
  readonly port: number
  /** the flag that sets the port, for faults; absent: flashblocks.port */
  readonly flag?: string
  /** connections at a time; absent: a hundred */
  readonly maxClients?: number
  /** bytes that one client may leave unread; absent: 16 MB. With more its connection ends */
  readonly maxUnreadBytes?: number
}

/** Tells all who are connected of blocks while they are built. Disposing of it ends all connections. */
export interface Publisher extends AsyncDisposable {
  readonly url: string
  publish(increment: BuiltIncrement): void
}

/** What clients may say, which nobody reads: pings. */
const maxMessageBytes = 1_024
/** 1013: try again later */
const tooMany = 1013

/** The messages of the newest block, for those who come in the middle of it. */
class Replay {
  #payloadId = ''
  #frames: Buffer[] = []

  add({ payloadId, index }: BuiltIncrement, frame: Buffer): void {
    if (index === 0 || payloadId !== this.#payloadId) this.#frames = []
    this.#payloadId = payloadId
    this.#frames.push(frame)
  }

  get frames(): readonly Buffer[] {
    return this.#frames
  }
}

/**
 * Publishes over WebSocket, on any path, JSON as text; whoever connects first gets what there is of the newest block. A client that reads too slowly
 * is disconnected, the others notice nothing.
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function createPublisher({ log, metrics }: PublisherDeps, options: PublisherOptions): Promise<Publisher> {
  const { host, port, flag = 'flashblocks.port', maxClients = 100, maxUnreadBytes = 16 * 2 ** 20 } = options
  const http = createServer(
    (_request, response) => void response.writeHead(426, { connection: 'close' }).end('a WebSocket is served here\n'),
  )
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes, clientTracking: true })
  const replay = new Replay()
  http.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request))
  })

  function send(socket: WebSocket, frame: Buffer): void {
    socket.send(frame, { binary: false })
    if (socket.bufferedAmount <= maxUnreadBytes) return
    metrics.dropped.inc({ reason: 'slow' })
    log.warn('a client reads increments too slowly: disconnected', { unreadBytes: socket.bufferedAmount })
    socket.terminate()
  }

  sockets.on('connection', (socket) => {
    socket.on('error', () => {}) // its end follows
    if (sockets.clients.size > maxClients) {
      metrics.dropped.inc({ reason: 'full' })
      socket.close(tooMany, 'too many connections')
      return
    }
    metrics.clients.set({}, sockets.clients.size)
    socket.once('close', () => metrics.clients.set({}, sockets.clients.size))
    for (const frame of replay.frames) send(socket, frame)
  })
  const address = await listen(http, { host, port, flag })
  return {
    url: `ws://${hostInUrl(address.address)}:${address.port}`,
    publish(increment): void {
      const frame = Buffer.from(encodeFrame(increment))
      replay.add(increment, frame)
      metrics.published.inc({})
      metrics.bytes.inc({}, frame.length)
      for (const socket of sockets.clients) if (socket.readyState === socket.OPEN) send(socket, frame)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets.clients) socket.terminate()
      http.closeAllConnections()
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      sockets.close()
      await closed
      metrics.clients.set({}, 0)
    },
  }
}
