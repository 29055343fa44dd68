import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock'
import { hostInUrl, type Listen, listen } from '#lib/listen'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { CancellationToken } from '../context.ts'
import type { Gates } from '../limits/gates.ts'
import { type ClientIdentity, identityOf, type RateLimiter } from '../limits/rateLimit.ts'
import type { CallMetrics, RpcMetrics } from '../metrics.ts'
import type { Registry } from '../registry.ts'
import { ByteBudget } from './body.ts'
import { createCallSockets } from './callSockets.ts'
import { type ConnectionSlot, ConnectionSlots } from './connectionSlots.ts'
import { createDispatcher } from './dispatch.ts'
import { createFastLane } from './fastLane.ts'
import type { Pages } from './healthPages.ts'
import { isHostAllowed, isLoopback } from './hosts.ts'
import type { Cors } from './pages.ts'
import type { PlainHead } from './plainRequest.ts'
import { refuseUpgrade } from './refuseUpgrade.ts'
import { keepAliveMs, plain, type Reply, ReplyHeads } from './reply.ts'
import type { SlowCalls } from './slowCalls.ts'
import { createSlowLane } from './slowLane.ts'
import { UnreadTotal } from './unread.ts'

export type RpcServerDeps<Context> = {
  readonly registry: Registry<Context>
  /** Creates the context of one call. */
  readonly contextOf: (cancellation: CancellationToken) => Context
  /** responses to GET, by path */
  readonly pages: Pages
  /** rate limits of clients; absent: none */
  readonly limiter?: RateLimiter | undefined
  /** shared by the servers of the thread; absent: the server has its own */
  readonly gates?: Gates | undefined
  /** absent: slow calls are not reported */
  readonly slow?: SlowCalls | undefined
  /** of the process; absent: not bounded */
  readonly memory?: MemoryGuard | undefined
  readonly log: Log
  readonly clock: Clock
  /** absent: ended connections appear in the log only */
  readonly metrics?: (CallMetrics & Pick<RpcMetrics, 'unreadEnds' | 'evictions'>) | undefined
}

export type RpcServerOptions = Listen & {
  /** host names to accept besides IP addresses and localhost; default: none on a loopback address, any elsewhere */
  readonly hostNames?: readonly string[] | 'any'
  /** Origins whose web pages may send requests; `*`: all; default: none. */
  readonly cors?: Cors
  readonly limits?: Partial<RpcServerLimits>
  /** Reason to refuse a request with this Authorization header (HTTP 401), or undefined; default: accept all. */
  readonly authorize?: (authorization: string | undefined) => string | undefined
  /** Maximum number of WebSocket connections for calls on the same port; default: none. */
  readonly maxSockets?: number
}

export type RpcServerLimits = {
  readonly maxBodyBytes: number
  /** bodies of all unanswered requests together */
  readonly maxHeldBytes: number
  readonly maxResponseBytes: number
  /** answers to all requests together, until the kernel has accepted them for sending */
  readonly maxUnreadTotalBytes: number
  readonly maxBatch: number
  /** beyond it the idlest connection is ended */
  readonly maxConnections: number
  /** for head and body of a request to arrive */
  readonly requestTimeoutMs: number
  /** without traffic in either direction, also while a call runs; then the connection ends */
  readonly stallTimeoutMs: number
  /** for running calls when the server closes */
  readonly closeTimeoutMs: number
}

export const defaultServerLimits: RpcServerLimits = {
  maxBodyBytes: 15_000_000,
  maxHeldBytes: 150_000_000,
  maxResponseBytes: 160_000_000,
  maxUnreadTotalBytes: 320_000_000,
  maxBatch: 100,
  maxConnections: 500,
  requestTimeoutMs: 30_000,
  stallTimeoutMs: 120_000,
  closeTimeoutMs: 5_000,
}

/** A listening server. Disposing of it waits a limited time for running calls, then ends all connections. */
export interface RpcServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

const plainIdentity = ({ remoteAddress = '' }: Socket, headers: PlainHead['headers'], target: string): ClientIdentity => ({
  address: remoteAddress,
  forwardedFor: headers.get('x-forwarded-for'),
  apiKey: headers.get('x-api-key'),
  target,
})

/**
 * Starts a JSON-RPC server over HTTP: POST of a call or a batch, GET of the pages, nothing else; web pages get access according to `cors`.
 * The fast lane answers requests in the usual form; any other request moves its connection to node's own HTTP server.
 * @returns when it listens
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function createRpcServer<Context>(deps: RpcServerDeps<Context>, options: RpcServerOptions): Promise<RpcServer> {
  const { log, clock, pages, limiter } = deps
  const limits = { ...defaultServerLimits, ...options.limits }
  const hostNames = options.hostNames ?? (isLoopback(options.host) ? [] : 'any')
  const dispatcher = createDispatcher(deps, limits)
  const budget = new ByteBudget(limits.maxHeldBytes)
  const unreadTotal = new UnreadTotal(deps, limits.maxUnreadTotalBytes)
  const slotOf = new WeakMap<Socket, ConnectionSlot>()
  let isClosing = false

  /** Error response for a request without permission. */
  function turnedAway({ headers, socket }: IncomingMessage): Reply | undefined {
    if (!isHostAllowed(headers.host, hostNames)) return plain(403, 'this host name is not served here')
    if (options.authorize === undefined) return undefined
    const unauthorized = options.authorize(headers.authorization)
    if (unauthorized !== undefined) return { ...plain(401, unauthorized), isLast: true }
    slotOf.get(socket)?.know()
    return undefined
  }

  const slowLane = createSlowLane(
    {
      ...{ dispatcher, turnedAway, pages, budget, unreadTotal, log },
      bucketOf: (request) => limiter?.bucketOf(identityOf(request)),
      slotOf: (socket) => slotOf.get(socket),
      isClosing: () => isClosing,
    },
    { maxBodyBytes: limits.maxBodyBytes, cors: options.cors },
  )
  const server = createServer({ requestTimeout: limits.requestTimeoutMs, keepAliveTimeout: keepAliveMs }, slowLane)
  const handOver = takeOver(server)
  const fastLane = createFastLane(
    {
      ...{ dispatcher, budget, unreadTotal, clock, log, heads: new ReplyHeads(clock), handOver },
      admits: ({ headers }) => isHostAllowed(headers.get('host'), hostNames),
      bucketOf: ({ headers, target }, socket) => limiter?.bucketOf(plainIdentity(socket, headers, target)),
    },
    { ...limits, idleTimeoutMs: Math.min(keepAliveMs, limits.stallTimeoutMs) },
  )
  const slots = new ConnectionSlots(limits.maxConnections, () => deps.metrics?.evictions.inc({ over: 'http' }))
  server.on('connection', (socket: Socket) => {
    const slot = slots.takeFor(socket)
    if (slot === undefined) return
    slotOf.set(socket, slot)
    if (options.authorize === undefined) fastLane.accept(socket, slot)
    else handOver(socket)
  })

  const { maxSockets = 0 } = options
  const { maxBodyBytes: maxMessageBytes, maxResponseBytes: maxUnreadBytes } = limits
  const sockets = createCallSockets({ dispatcher, budget, unreadTotal, log }, { maxSockets, maxMessageBytes, maxUnreadBytes })
  if (maxSockets > 0) {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', (error) => log.debug('rpc connection failed', { error }))
      const isFromPage = request.headers.origin !== undefined
      const early = turnedAway(request) ?? (isFromPage ? plain(403, 'web pages are not served here') : undefined)
      const refused = early ?? (isClosing || sockets.isFull ? plain(503, 'too many connections') : undefined)
      if (refused) refuseUpgrade(socket, refused.status, String(refused.body))
      else sockets.accept(request, socket, head)
    })
  }
  server.setTimeout(limits.stallTimeoutMs)
  const { port } = await listen(server, options)
  server.on('error', (error) => log.error('rpc server failed', { flag: options.flag, error }))
  const url = `http://${hostInUrl(options.host)}:${port}`
  log.info('rpc listening', { url, methods: deps.registry.size })

  return {
    url,
    port,
    async [Symbol.asyncDispose](): Promise<void> {
      if (isClosing) return
      isClosing = true
      sockets.close()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      fastLane.close()
      using _timer = clock.after(limits.closeTimeoutMs, () => {
        server.closeAllConnections()
        fastLane.closeAll()
      })
      await closed
    },
  }
}

/**
 * Removes node's own connection handling from a server. @returns that handling, for connections that need it
 * @see node documentation, http, Event: 'connection': "can also be explicitly emitted by users to inject connections into the HTTP server"
 */
function takeOver(server: Server): (socket: Socket) => void {
  const own = server.listeners('connection') as ((socket: Socket) => void)[]
  server.removeAllListeners('connection')
  return (socket) => {
    for (const listener of own) listener.call(server, socket)
  }
}
