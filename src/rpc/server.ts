import { Buffer } from 'node:buffer'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Ticket } from './context.ts'
import { invalidRequest, parseError, type RpcError, requestTooBig, serverBusy } from './errors.ts'
import type { Pages } from './healthPages.ts'
import type { Registry } from './registry.ts'
import { ByteBudget, type Hold, parseJson, readBody } from './server/body.ts'
import { createCallSockets } from './server/callSockets.ts'
import { type Caller, createDispatcher, type Dispatcher, errorText } from './server/dispatch.ts'
import { isHostAllowed, isLoopback } from './server/hosts.ts'
import { hostInUrl, type Listen, listen } from './server/listen.ts'
import { refuseUpgrade } from './server/refuseUpgrade.ts'
import { type AnswerShare, ShareCaller, type Unread, type UnreadDeps, UnreadTotal } from './server/unread.ts'

export type RpcServerDeps<Context> = {
  readonly registry: Registry<Context>
  /** The context of one call: what the methods get, with the call's ticket in it. */
  readonly contextOf: (ticket: Ticket) => Context
  /** answers to GET by path */
  readonly pages: Pages
  readonly log: Log
  readonly clock: Clock
  /** absent: the log alone tells who was ended */
  readonly metrics?: UnreadDeps['metrics']
}

export type RpcServerOptions = Listen & {
  /** names this server may be called by besides IP addresses and localhost; default: none on a loopback address, any elsewhere */
  readonly hostNames?: readonly string[] | 'any'
  /** `*`: web pages of any origin may ask; default: none may. */
  readonly cors?: '*'
  readonly limits?: Partial<RpcServerLimits>
  /** Why a request with this Authorization header is refused (HTTP 401), or undefined; default: none is. */
  readonly authorize?: (authorization: string | undefined) => string | undefined
  /** Calls over WebSocket on the same port too, at most so many connections; default: none. */
  readonly maxSockets?: number
}

export type RpcServerLimits = {
  readonly maxBodyBytes: number
  /** bodies of all requests together, until they are answered */
  readonly maxHeldBytes: number
  readonly maxResponseBytes: number
  /** answers to all requests together, from when they are made until the system has taken them for the client */
  readonly maxUnreadTotalBytes: number
  readonly maxBatch: number
  readonly maxConnections: number
  /** calls of one cost class that wait for their turn */
  readonly maxWaiting: number
  /** for head and body of a request to arrive */
  readonly requestTimeoutMs: number
  /** without a byte in either direction, while a call runs too: then the connection ends */
  readonly stallTimeoutMs: number
  /** for answers under way when the server closes */
  readonly closeTimeoutMs: number
}

const defaultServerLimits: RpcServerLimits = {
  maxBodyBytes: 15_000_000,
  maxHeldBytes: 150_000_000,
  maxResponseBytes: 160_000_000,
  maxUnreadTotalBytes: 320_000_000,
  maxBatch: 100,
  maxConnections: 500,
  maxWaiting: 1_000,
  requestTimeoutMs: 30_000,
  stallTimeoutMs: 120_000,
  closeTimeoutMs: 5_000,
}

/** A listening server. Disposing of it lets answers under way finish for a while, then ends all connections. */
export interface RpcServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
}

type Reply = { readonly status: number; readonly text: string; readonly type: 'application/json' | 'text/plain'; readonly isLast?: boolean }

const plain = (status: number, text: string): Reply => ({ status, text: `${text}\n`, type: 'text/plain' })
const json = (status: number, text: string): Reply => ({ status, text, type: 'application/json' })
const refusal = (status: number, error: RpcError): Reply => ({
  ...json(status, errorText(null, error)),
  isLast: status === 413 || status === 503,
})

/**
 * A web page may send other types without asking us first (no CORS preflight); JSON it may not, and we grant it only where we are told to. What
 * counts is the type before the parameters: `text/plain; json` needs no preflight.
 */
function isFromForeignPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined && !/^application\/json *(?:;|$)/i.test(headers['content-type'] ?? '')
}

const isFromPage = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined

async function replyToPost(
  request: IncomingMessage,
  caller: Caller,
  dispatcher: Dispatcher,
  { maxBodyBytes, hold }: { readonly maxBodyBytes: number; readonly hold: Hold },
): Promise<Reply | undefined> {
  if (isFromForeignPage(request)) return plain(415, 'content type must be application/json')
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return refusal(415, invalidRequest(`content encoding ${encoding} is not supported`))
  const body = await readBody(request, maxBodyBytes, hold)
  if (body.kind === 'cut') return undefined
  if (body.kind === 'too-big') return refusal(413, requestTooBig(maxBodyBytes))
  if (body.kind === 'busy') return refusal(503, serverBusy())
  const parsed = parseJson(body.bytes)
  if (parsed === undefined) return refusal(200, parseError())
  const text = await dispatcher.answer(parsed.value, caller)
  return text === undefined ? json(204, '') : json(200, text)
}

/** The answer to a page that asks first. @see Fetch standard, "CORS-preflight request" */
const preflight: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'POST, GET',
  'access-control-allow-headers': '*, authorization',
  'access-control-max-age': '7200',
}

function allowPages(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*')
  if (request.method !== 'OPTIONS') return
  for (const [name, value] of Object.entries(preflight)) response.setHeader(name, value)
}

function send(response: ServerResponse, reply: Reply, share: AnswerShare, isClosing: boolean): void {
  const body = Buffer.from(reply.text, 'utf8')
  share.replace(body.length)
  response.statusCode = reply.status
  if (reply.status === 405) response.setHeader('allow', 'POST')
  if (reply.status === 401) response.setHeader('www-authenticate', 'Bearer')
  if (reply.isLast === true || isClosing) response.setHeader('connection', 'close')
  if (reply.status !== 204) {
    response.setHeader('content-type', reply.type)
    response.setHeader('content-length', body.length)
  }
  response.end(body)
}

/**
 * Starts a JSON-RPC server over HTTP: POST of one call or a batch, GET of the pages, nothing else; web pages get answers where `cors` says so.
 * @returns when it listens
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function createRpcServer<Context>(deps: RpcServerDeps<Context>, options: RpcServerOptions): Promise<RpcServer> {
  const { log, clock, pages } = deps
  const limits = { ...defaultServerLimits, ...options.limits }
  const hostNames = options.hostNames ?? (isLoopback(options.host) ? [] : 'any')
  const dispatcher = createDispatcher(deps, limits)
  const budget = new ByteBudget(limits.maxHeldBytes)
  const unreadTotal = new UnreadTotal(deps, limits.maxUnreadTotalBytes)
  const unreadOf = new WeakMap<Socket, Unread>()
  let isClosing = false

  /** By connection: a client may send its next request before it reads an answer. */
  function unreadBy(socket: Socket): Unread {
    const known = unreadOf.get(socket)
    if (known !== undefined) return known
    const unread = unreadTotal.join('http', () => socket.destroy())
    unreadOf.set(socket, unread)
    socket.once('close', () => unread[Symbol.dispose]())
    return unread
  }

  /** What is asked without the right to. */
  function turnedAway({ headers }: IncomingMessage): Reply | undefined {
    if (!isHostAllowed(headers.host, hostNames)) return plain(403, 'this host name is not served here')
    const unauthorized = options.authorize?.(headers.authorization)
    return unauthorized === undefined ? undefined : plain(401, unauthorized)
  }

  async function replyTo(request: IncomingMessage, caller: Caller): Promise<Reply | undefined> {
    const early = turnedAway(request)
    if (early) return early
    if (request.method === 'OPTIONS' && options.cors !== undefined) return json(204, '')
    if (request.method === 'POST') {
      using hold = budget.hold()
      return await replyToPost(request, caller, dispatcher, { maxBodyBytes: limits.maxBodyBytes, hold })
    }
    const page = request.method === 'GET' ? pages.get((request.url ?? '/').replace(/\?.*/s, '')) : undefined
    if (request.method === 'GET' && page === undefined && request.url !== '/')
      return plain(404, 'no such page; JSON-RPC calls are sent by POST')
    if (page === undefined) return plain(405, 'JSON-RPC calls are sent by POST')
    const answer = await page()
    return 'text' in answer
      ? { status: answer.status, text: answer.text, type: 'text/plain' }
      : json(answer.status, JSON.stringify(answer.body))
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const stream of [request, response]) stream.on('error', (error) => log.debug('rpc connection failed', { error }))
    if (options.cors !== undefined) allowPages(request, response)
    const share = unreadBy(request.socket).share()
    const caller = new ShareCaller(share)
    response.once('close', () => share[Symbol.dispose]())
    try {
      const reply = await replyTo(request, caller)
      if (reply === undefined) request.destroy()
      else if (!share.isGone) send(response, reply, share, isClosing)
    } catch (error) {
      log.error('rpc request failed', { error })
      response.destroy()
    }
  }

  const server = createServer({ requestTimeout: limits.requestTimeoutMs, keepAliveTimeout: 65_000 }, (request, response) => {
    void handle(request, response)
  })
  const { maxSockets = 0 } = options
  const { maxBodyBytes: maxMessageBytes, maxResponseBytes: maxUnreadBytes } = limits
  const sockets = createCallSockets({ dispatcher, budget, unreadTotal, log }, { maxSockets, maxMessageBytes, maxUnreadBytes })
  if (maxSockets > 0) {
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', (error) => log.debug('rpc connection failed', { error }))
      const early = turnedAway(request) ?? (isFromPage(request) ? plain(403, 'web pages are not served here') : undefined)
      const refused = early ?? (isClosing || sockets.isFull ? plain(503, 'too many connections') : undefined)
      if (refused) refuseUpgrade(socket, refused.status, refused.text)
      else sockets.accept(request, socket, head)
    })
  }
  server.maxConnections = limits.maxConnections
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
      using _timer = clock.after(limits.closeTimeoutMs, () => server.closeAllConnections())
      await closed
    },
  }
}
