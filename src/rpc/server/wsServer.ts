import type { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { clientNameOf } from '#lib/clientName'
import type { Clock } from '#lib/clock'
import { hostInUrl, type Listen, listen } from '#lib/listen'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { CancellationToken, Subscriptions } from '../context.ts'
import { filterMemoryBytes } from '../filters/filters.ts'
import type { Gates } from '../limits/gates.ts'
import { type ClientIdentity, identityOf, type RateLimiter } from '../limits/rateLimit.ts'
import type { CallMetrics, RpcMetrics } from '../metrics.ts'
import type { Registry } from '../registry.ts'
import { type AudienceDeps, createAudience } from '../subscriptions/audience.ts'
import { Connection, type ConnectionLimits, type SocketCaller } from '../subscriptions/connection.ts'
import type { AnswerLimits } from './batch.ts'
import { ByteBudget } from './body.ts'
import { type ConnectionSlot, ConnectionSlots } from './connectionSlots.ts'
import { createDispatcher } from './dispatch.ts'
import { isHostAllowed, isLoopback } from './hosts.ts'
import type { RpcServer } from './httpServer.ts'
import { PartialMessages } from './partialMessages.ts'
import { refuseUpgrade } from './refuseUpgrade.ts'
import type { SlowCalls } from './slowCalls.ts'
import { UnreadTotal } from './unread.ts'

export type WsServerDeps<Context> = AudienceDeps & {
  readonly registry: Registry<Context>
  /** Creates the context of one call from its cancellation and the subscriptions of its connection. */
  readonly contextOf: (cancellation: CancellationToken, subscriptions: Subscriptions) => Context
  /** rate limits of clients; absent: none */
  readonly limiter?: RateLimiter | undefined
  /** shared by the servers of the thread; absent: the server has its own */
  readonly gates?: Gates | undefined
  /** of the process; absent: not bounded */
  readonly memory?: MemoryGuard | undefined
  /** absent: slow calls are not reported */
  readonly slow?: SlowCalls | undefined
  /** budget of filters and subscriptions, shared by the servers of the thread; absent: the server has its own */
  readonly subscriptionBudget?: ByteBudget | undefined
  readonly log: Log
  readonly clock: Clock
  readonly metrics: CallMetrics & Pick<RpcMetrics, 'sockets' | 'socketEnds' | 'socketRefusals' | 'unreadEnds' | 'evictions'>
}

export type WsServerOptions = Listen & {
  /** host names to accept besides IP addresses and localhost; default: none on a loopback address, any elsewhere */
  readonly hostNames?: readonly string[] | 'any'
  /** origins (`https://wallet.example`) whose web pages may connect; default: none. Other programs send no origin. */
  readonly origins?: readonly string[] | 'any'
  readonly limits?: Partial<WsServerLimits>
}

export type WsServerLimits = AnswerLimits &
  ConnectionLimits & {
    readonly maxConnections: number
    readonly maxMessageBytes: number
    /** bytes of all messages together while they are processed, and separately while they arrive */
    readonly maxHeldBytes: number
    /** answers and notifications of all connections together, until the kernel has accepted them for sending */
    readonly maxUnreadTotalBytes: number
    /** interval of pings */
    readonly pingMs: number
    /** time without any message or pong after which a connection ends */
    readonly idleMs: number
    /** for a client to request the WebSocket */
    readonly requestTimeoutMs: number
  }

export const defaultWsLimits: WsServerLimits = {
  maxBatch: 100,
  maxResponseBytes: 64_000_000,
  maxSubscriptions: 128,
  maxSubscriptionBytes: 1_000_000,
  maxRunning: 16,
  maxUnreadBytes: 4_000_000,
  maxBufferedBytes: 96_000_000,
  maxConnections: 12_000,
  maxMessageBytes: 15_000_000,
  maxHeldBytes: 150_000_000,
  maxUnreadTotalBytes: 192_000_000,
  pingMs: 30_000,
  idleMs: 75_000,
  requestTimeoutMs: 10_000,
  closeTimeoutMs: 5_000,
}

/** Additional connections of a full server, to which it can send the reason of a refusal. */
const extraHandshakes = 16

type Refusal = { readonly why: 'host' | 'origin' | 'full'; readonly status: number; readonly says: string }

const full: Refusal = { why: 'full', status: 503, says: 'too many connections, try again later' }

/**
 * Starts a JSON-RPC server over WebSocket: the methods of the registry, and subscriptions to heads, logs and the pool.
 * @returns when it listens; disposing of it waits a limited time for running calls, closes the connections, then ends those left
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function createWsServer<Context>(deps: WsServerDeps<Context>, options: WsServerOptions): Promise<RpcServer> {
  const { registry, log, clock, metrics, limiter, gates, slow } = deps
  const limits = { ...defaultWsLimits, ...options.limits }
  const hostNames = options.hostNames ?? (isLoopback(options.host) ? [] : 'any')
  const origins = options.origins ?? []
  const contextOf = (cancellation: CancellationToken, caller: SocketCaller): Context => deps.contextOf(cancellation, caller.subscriptions)
  const dispatcher = createDispatcher<Context, SocketCaller>({ registry, contextOf, gates, metrics, slow, log, clock }, limits)
  const { subscriptionBudget = new ByteBudget(filterMemoryBytes) } = deps
  const unreadTotal = new UnreadTotal(deps, limits.maxUnreadTotalBytes)
  const partialMessages = new PartialMessages(limits.maxHeldBytes)
  const onEvict = (): void => metrics.evictions.inc({ over: 'websocket' })
  const slots = new ConnectionSlots(limits.maxConnections, onEvict)
  const handshakeSlots = new WeakMap<Duplex, ConnectionSlot>()
  const audience = createAudience<Connection>(deps)
  const { connections, pendingSubscribers } = audience
  const budget = new ByteBudget(limits.maxHeldBytes)
  const connectionDeps = { dispatcher, budget, subscriptionBudget, unreadTotal, pendingSubscribers, clock, log }
  let isClosing = false

  function refusalOf({ headers }: IncomingMessage): Refusal | undefined {
    const { host, origin } = headers
    if (!isHostAllowed(host, hostNames)) return { why: 'host', status: 403, says: 'this host name is not served here' }
    if (origin !== undefined && origins !== 'any' && !origins.includes(origin))
      return { why: 'origin', status: 403, says: 'pages of this origin are not served here' }
    return isClosing ? full : undefined
  }

  function accept(socket: WebSocket, identity: ClientIdentity, slot: ConnectionSlot): Connection {
    const bucket = limiter?.bucketOf(identity)
    const connection = new Connection(
      socket,
      connectionDeps,
      limits,
      { bucket, slot, peer: { remoteAddress: identity.address } },
      (why) => {
        slot[Symbol.dispose]()
        connections.delete(connection)
        metrics.sockets.set({}, connections.size)
        metrics.socketEnds.inc({ why })
      },
    )
    connections.add(connection)
    metrics.sockets.set({}, connections.size)
    return connection
  }

  /** Completes an upgrade request in a slot that the new connection keeps. */
  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Refusal | undefined {
    const identity = identityOf(request)
    let connection: Connection | undefined
    const slot = slots.take(limiter?.nameOf(identity) ?? clientNameOf(identity.address), () => {
      if (connection) connection.evict()
      else socket.destroy()
    })
    if (slot === undefined) return full
    socket.once('close', () => slot[Symbol.dispose]())
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      partialMessages.watch(socket, accepted)
      connection = accept(accepted, identity, slot)
    })
    return undefined
  }

  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: limits.maxMessageBytes,
  })
  sockets.on('wsClientError', (_error, socket) => {
    metrics.socketRefusals.inc({ why: 'malformed' })
    refuseUpgrade(socket, 400, 'a WebSocket handshake of version 13 is expected')
  })
  const server = createServer({ requestTimeout: limits.requestTimeoutMs }, (_request, response) => {
    response.writeHead(426, { connection: 'close', upgrade: 'websocket', 'content-type': 'text/plain' })
    response.end('JSON-RPC is served here over WebSocket\n')
  })
  const handshakes = new ConnectionSlots(limits.maxConnections + extraHandshakes, onEvict)
  server.on('connection', (socket: Socket) => {
    const slot = handshakes.takeFor(socket)
    if (slot) handshakeSlots.set(socket, slot)
  })
  const onError = (error: Error): void => log.debug('websocket failed', { error }) // shared: a closure per socket would retain its request
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', onError)
    const refusal = refusalOf(request) ?? upgrade(request, socket, head)
    if (refusal === undefined) {
      handshakeSlots.get(socket)?.[Symbol.dispose]()
      return
    }
    metrics.socketRefusals.inc({ why: refusal.why })
    refuseUpgrade(socket, refusal.status, refusal.says)
  })

  const { port } = await listen(server, options)
  server.on('error', (error) => log.error('rpc server failed', { flag: options.flag, error }))
  const url = `ws://${hostInUrl(options.host)}:${port}`
  log.info('rpc listening', { url, methods: registry.size })

  let pinging = clock.after(limits.pingMs, ping)
  function ping(): void {
    for (const connection of connections) connection.probe(limits.idleMs)
    pinging = clock.after(limits.pingMs, ping)
  }

  return {
    url,
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      if (isClosing) return
      isClosing = true
      audience[Symbol.dispose]()
      pinging[Symbol.dispose]()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.close()
      using _timer = clock.after(limits.closeTimeoutMs, () => {
        for (const connection of connections) connection.terminate()
        server.closeAllConnections()
      })
      await closed
    },
  }
}
