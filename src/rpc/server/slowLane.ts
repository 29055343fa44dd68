import { Buffer } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import type { Log } from '#lib/log'
import { invalidRequest, requestTooBig, serverBusy } from '../errors.ts'
import type { Bucket } from '../limits/rateTable.ts'
import { type ByteBudget, freeBodyBytes, readBody } from './body.ts'
import { ShareCaller } from './caller.ts'
import type { ConnectionSlot } from './connectionSlots.ts'
import type { Dispatcher } from './dispatch.ts'
import type { Pages } from './healthPages.ts'
import { type Cors, isFromForeignPage, pageHeaders } from './pages.ts'
import { answered, json, plain, type Reply, refusal } from './reply.ts'
import type { AnswerShare, Unread, UnreadTotal } from './unread.ts'
import { zippedFor } from './zip.ts'

export type SlowLaneDeps = {
  readonly dispatcher: Dispatcher
  /** Error response for a request that must not be read; undefined: the request may be read. */
  readonly turnedAway: (request: IncomingMessage) => Reply | undefined
  readonly bucketOf: (request: IncomingMessage) => Bucket | undefined
  /** the slot of the connection */
  readonly slotOf: (socket: Socket) => ConnectionSlot | undefined
  readonly pages: Pages
  readonly budget: ByteBudget
  readonly unreadTotal: UnreadTotal
  readonly log: Log
  /** whether every connection ends after its answer */
  readonly isClosing: () => boolean
}

export type SlowLaneOptions = { readonly maxBodyBytes: number; readonly cors: Cors | undefined }

function send(response: ServerResponse, reply: Reply, share: AnswerShare, isLast: boolean): void {
  const { body } = reply
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  share.replace(length)
  response.statusCode = reply.status
  if (reply.status === 405) response.setHeader('allow', 'POST')
  if (reply.status === 401) response.setHeader('www-authenticate', 'Bearer')
  if (isLast) response.setHeader('connection', 'close')
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.appendHeader(name, value)
  if (reply.status !== 204) {
    response.setHeader('content-type', reply.type)
    response.setHeader('content-length', length)
  }
  if (typeof body === 'string') {
    response.end(body, 'utf8')
    return
  }
  if (body.isLazy) {
    // the handlers of the response report a failure
    pipeline(Readable.from(body.pieces(), { highWaterMark: 1 }), response, () => {})
    return
  }
  response.cork()
  for (const piece of body.pieces()) response.write(piece)
  response.end()
}

/** Marks a slot as busy until disposed of. */
function callOf(slot: ConnectionSlot | undefined): Disposable {
  slot?.begin()
  return { [Symbol.dispose]: () => slot?.finish() }
}

/** Handler for requests that node's own HTTP server has parsed: all of HTTP. */
export function createSlowLane(
  deps: SlowLaneDeps,
  { maxBodyBytes, cors }: SlowLaneOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { dispatcher, turnedAway, bucketOf, slotOf, pages, budget, unreadTotal, log, isClosing } = deps
  const unreadOf = new WeakMap<Socket, Unread>()

  /** Per connection: a client may send its next request before it reads an answer. */
  function unreadBy(socket: Socket): Unread {
    const known = unreadOf.get(socket)
    if (known !== undefined) return known
    const unread = unreadTotal.join('http', () => socket.destroy())
    unreadOf.set(socket, unread)
    socket.once('close', () => unread[Symbol.dispose]())
    return unread
  }

  async function replyToPost(request: IncomingMessage, caller: ShareCaller): Promise<Reply | undefined> {
    const { headers } = request
    if (isFromForeignPage(headers)) return plain(415, 'content type must be application/json')
    const encoding = headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') return refusal(415, invalidRequest(`content encoding ${encoding} is not supported`))
    using hold = budget.hold(freeBodyBytes)
    const body = await readBody(request, maxBodyBytes, hold)
    if (body.kind === 'cut') return undefined
    if (body.kind === 'too-big') return refusal(413, requestTooBig(maxBodyBytes))
    if (body.kind === 'busy') return refusal(503, serverBusy({ limit: 'bytes', max: budget.maxBytes }))
    using _call = callOf(slotOf(request.socket))
    return zippedFor(String(headers['accept-encoding'] ?? ''), answered(await dispatcher.answer(body.bytes, caller), caller.tally))
  }

  async function replyToGet(url: string, slot: ConnectionSlot | undefined): Promise<Reply> {
    const [path = '', query = ''] = url.split('?', 2)
    const page = pages.get(path)
    if (page === undefined)
      return url === '/' ? plain(405, 'JSON-RPC calls are sent by POST') : plain(404, 'no such page; JSON-RPC calls are sent by POST')
    using _call = callOf(slot)
    const answer = await page(new URLSearchParams(query))
    if ('content' in answer) return { status: answer.status, body: answer.content, type: answer.type, headers: answer.headers }
    return 'text' in answer
      ? { status: answer.status, body: answer.text, type: 'text/plain' }
      : json(answer.status, JSON.stringify(answer.body))
  }

  async function replyTo(request: IncomingMessage, caller: ShareCaller): Promise<Reply | undefined> {
    const { method, url = '/' } = request
    const early = turnedAway(request)
    if (early) return early
    if (method === 'OPTIONS' && cors !== undefined) return json(204, '')
    if (method === 'POST') return await replyToPost(request, caller)
    return method === 'GET' || method === 'HEAD'
      ? await zippedFor(String(request.headers['accept-encoding'] ?? ''), await replyToGet(url, slotOf(request.socket)))
      : plain(405, 'JSON-RPC calls are sent by POST')
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const stream of [request, response]) stream.on('error', (error) => log.debug('rpc connection failed', { error }))
    for (const [name, value] of Object.entries(pageHeaders(cors, request.method, request.headers.origin))) response.setHeader(name, value)
    const share = unreadBy(request.socket).share()
    response.once('close', () => share[Symbol.dispose]())
    try {
      const reply = await replyTo(request, new ShareCaller(share, bucketOf(request), request.socket))
      if (reply === undefined) request.destroy()
      else if (!share.isGone) send(response, reply, share, reply.isLast === true || isClosing())
    } catch (error) {
      log.error('rpc request failed', { error })
      response.destroy()
    }
  }

  return (request, response) => void handle(request, response)
}
