import { type ClientOptions, WebSocket } from 'ws'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, type Random } from '#lib/retry'
import type { L2Metrics } from './metrics.ts'
import { parseMessage } from './socketMessage.ts'

export type NewHeadsDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<L2Metrics, 'heads' | 'socket'>
}

export type NewHeadsOptions = {
  readonly endpoint: Endpoint
  /** maximum time without a head, after which the connection is replaced */
  readonly idleMs: number
  readonly connectTimeoutMs: number
  readonly maxMessageBytes: number
  readonly backoff: Backoff
}

/**
 * Subscription to `newHeads` of a node, renewed after each failure. It reports only that there is a new head; the message's contents are not trusted.
 */
export interface NewHeadsSubscription extends Disposable {
  /** true while the subscription is active and not silent for too long */
  readonly isUp: boolean
}

type Reply = {
  readonly id?: unknown
  readonly result?: unknown
  readonly method?: unknown
  readonly params?: { readonly subscription?: unknown }
}

function parseReply(data: Buffer): Reply | undefined {
  const value = parseMessage(data)
  return typeof value === 'object' && value !== null ? (value as Reply) : undefined
}

const subscribeCall = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] })

/**
 * Creates the subscription.
 * @param onChange called after each new head, and whenever `isUp` has changed
 */
export function createNewHeadsSubscription(deps: NewHeadsDeps, options: NewHeadsOptions, onChange: () => void): NewHeadsSubscription {
  const { clock, random, log, metrics } = deps
  const { endpoint, idleMs, connectTimeoutMs, maxMessageBytes, backoff } = options
  const clientOptions: ClientOptions = {
    headers: endpoint.headers,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
  }
  let socket: WebSocket | undefined
  let subscription: unknown
  let failures = 0
  let timer: Disposable | undefined
  let isClosed = false

  function setTimer(ms: number, run: () => void): void {
    timer?.[Symbol.dispose]()
    timer = clock.after(ms, run)
  }

  function setSubscription(id: unknown): void {
    if ((id === undefined) === (subscription === undefined)) return
    subscription = id
    metrics.socket.set({}, id === undefined ? 0 : 1)
    onChange()
  }

  /** Closes the connection and opens another one after a pause. */
  function giveUp(reason: string): void {
    const given = socket
    if (given === undefined || isClosed) return
    socket = undefined
    given.terminate()
    failures++
    const delayMs = backoffMs(backoff, failures, random())
    log[failures === 1 ? 'warn' : 'debug']('newHeads subscription of the followed node failed, polling', {
      endpoint: endpoint.name,
      reason,
      delayMs,
    })
    setSubscription(undefined)
    setTimer(delayMs, connect)
  }

  const expectHead = (): void => setTimer(idleMs, () => giveUp(`no head within ${idleMs / 1_000} s`))

  function receive(message: Reply): void {
    if (subscription === undefined && message.id === 1) {
      if (typeof message.result !== 'string') giveUp('subscription to newHeads refused')
      else {
        expectHead()
        setSubscription(message.result)
      }
    } else if (message.method === 'eth_subscription' && message.params?.subscription === subscription) {
      if (failures > 0) log.info('newHeads subscription of the followed node restored', { endpoint: endpoint.name })
      failures = 0
      expectHead()
      metrics.heads.inc({})
      onChange()
    }
  }

  function read(data: Buffer): void {
    const message = parseReply(data)
    if (message === undefined) giveUp('message is not JSON')
    else receive(message)
  }

  function connect(): void {
    const opened = new WebSocket(endpoint.url, clientOptions)
    socket = opened
    const ofThis = (run: () => void): void => {
      if (socket === opened) run()
    }
    setTimer(connectTimeoutMs, () => giveUp(`no subscription within ${connectTimeoutMs / 1_000} s`))
    opened.on('open', () => ofThis(() => opened.send(subscribeCall)))
    opened.on('message', (data: Buffer) => ofThis(() => read(data)))
    opened.on('error', (error: NodeJS.ErrnoException) => ofThis(() => giveUp(error.code ?? 'connection failed')))
    opened.on('close', (code) => ofThis(() => giveUp(`closed with ${code}`)))
  }

  metrics.socket.set({}, 0)
  connect()
  return {
    get isUp(): boolean {
      return subscription !== undefined
    },
    [Symbol.dispose](): void {
      isClosed = true
      timer?.[Symbol.dispose]()
      socket?.terminate()
      socket = undefined
      subscription = undefined
      metrics.socket.set({}, 0)
    },
  }
}
