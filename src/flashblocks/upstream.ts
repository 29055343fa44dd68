import { type ClientOptions, WebSocket } from 'ws'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, type Random } from '#lib/retry'
import { type DecodedMessage, type FeedMessage, maxMessageBytes } from './decode.ts'
import type { DecodeThread } from './decodeThread.ts'
import { flashblocksFault } from './faults.ts'
import { MessageQueue } from './messageQueue.ts'
import type { DisconnectReason, FlashblocksMetrics } from './metrics.ts'

export type UpstreamDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<FlashblocksMetrics, 'badMessages' | 'disconnects'>
  readonly decoder: Pick<DecodeThread, 'decode'>
  readonly onFlashblock: (flashblock: FeedMessage) => void
  /** Called after each change of `isUp` and `isHealthy`. */
  readonly onChange: () => void
}

export type UpstreamOptions = {
  readonly endpoint: Endpoint
  readonly connectTimeoutMs: number
  /** between two pings; a ping without a pong by the next ping ends the connection */
  readonly pingMs: number
  /** longest time without a flashblock; then the connection is replaced */
  readonly idleMs: number
  readonly backoff: Backoff
  /** invalid messages in a row that make the publisher unhealthy */
  readonly maxFaults: number
}

/** A publisher that the node stays connected to. */
export interface Upstream extends Disposable {
  /** host and port */
  readonly name: string
  readonly isUp: boolean
  /** false after too many invalid messages in a row, until one of its flashblocks fits */
  readonly isHealthy: boolean
  /** monotonic time of its last message; undefined: none yet */
  readonly heardMs: number | undefined
  /** Called when one of its flashblocks fitted. */
  praise(): void
  /** Called when one of its messages was invalid. @param text fault and place, for the log */
  accuse(text: string): void
}

/** A connection that lasted this long resets the back-off. */
const steadyMs = 10_000
/** Between two warnings about invalid messages of one publisher. */
const quietMs = 10_000

/**
 * One connection at a time, replaced after every end, clean or not. Placement of flashblocks is decided elsewhere. A publisher that sends too many
 * invalid messages is disconnected for a while, and again after each further one until a flashblock fits.
 */
class SocketUpstream implements Upstream {
  readonly #deps: UpstreamDeps
  readonly #options: UpstreamOptions
  readonly #clientOptions: ClientOptions
  readonly #undecoded: MessageQueue
  #socket: WebSocket | undefined
  #isUp = false
  #isHealthy = true
  #heardMs: number | undefined
  #openedMs = 0
  #isAlive = false
  #faults = 0
  #warnedMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #isClosed = false
  #timer: Disposable | undefined
  #pinging: Disposable | undefined

  constructor(deps: UpstreamDeps, options: UpstreamOptions) {
    this.#deps = deps
    this.#options = options
    const { headers } = options.endpoint
    this.#clientOptions = { headers, maxPayload: maxMessageBytes, perMessageDeflate: false, followRedirects: false }
    this.#undecoded = new MessageQueue({
      decode: (message): Promise<DecodedMessage> => deps.decoder.decode(message),
      onDecoded: (decoded): void => this.#decoded(decoded),
      onFailure: (error): void => {
        if (!this.#isClosed) deps.log.error('flashblock not decoded, dropped', { upstream: this.name, error })
      },
    })
    this.#connect()
  }

  get name(): string {
    return this.#options.endpoint.name
  }

  get isUp(): boolean {
    return this.#isUp
  }

  get isHealthy(): boolean {
    return this.#isHealthy
  }

  get heardMs(): number | undefined {
    return this.#heardMs
  }

  praise(): void {
    this.#faults = 0
    if (this.#isHealthy) return
    this.#isHealthy = true
    this.#deps.log.info('publisher is healthy again', { upstream: this.name })
    this.#deps.onChange()
  }

  accuse(text: string): void {
    const { log, onChange, clock } = this.#deps
    this.#faults++
    const nowMs = clock.elapsedMs()
    const isQuiet = nowMs - this.#warnedMs < quietMs
    if (!isQuiet) this.#warnedMs = nowMs
    log[isQuiet ? 'debug' : 'warn']('publisher sent an invalid message', { upstream: this.name, what: text, faults: this.#faults })
    if (this.#faults < this.#options.maxFaults) return
    this.#undecoded.clear()
    if (this.#isHealthy) {
      this.#isHealthy = false
      log.warn('publisher is unhealthy', {
        error: flashblocksFault('FEED_UNHEALTHY', { upstream: this.name, faults: this.#faults, last: text }),
      })
      onChange()
    }
    this.#disconnect('unhealthy', text)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#isUp = false
    this.#undecoded.clear()
    this.#timer?.[Symbol.dispose]()
    this.#pinging?.[Symbol.dispose]()
    this.#socket?.terminate()
    this.#socket = undefined
  }

  #connect(): void {
    const { endpoint, connectTimeoutMs } = this.#options
    const socket = new WebSocket(endpoint.url, this.#clientOptions)
    this.#socket = socket
    const ofThis = (run: () => void): void => {
      if (this.#socket === socket) run()
    }
    this.#setTimer(connectTimeoutMs, () => this.#disconnect('unreachable', `no connection within ${connectTimeoutMs / 1_000} s`))
    socket.on('open', () => ofThis(() => this.#opened()))
    socket.on('pong', () => ofThis(() => this.#alive()))
    socket.on('message', (data: Buffer) => ofThis(() => this.#read(data)))
    socket.on('error', (error: NodeJS.ErrnoException) => ofThis(() => this.#failed(error.code ?? error.message)))
    socket.on('close', (code) => ofThis(() => this.#disconnect('closed', `closed with ${code}`)))
  }

  #opened(): void {
    this.#isUp = true
    this.#openedMs = this.#deps.clock.elapsedMs()
    this.#deps.log.info('publisher connected', { upstream: this.name })
    this.#deps.onChange()
    this.#expectFlashblock()
    this.#isAlive = true
    this.#ping()
  }

  #alive(): void {
    this.#isAlive = true
  }

  /** Any message shows that the connection is alive; a pong may queue behind flashblocks. */
  #ping(): void {
    const { pingMs } = this.#options
    if (!this.#isAlive) {
      this.#disconnect('no-pong', `no pong within ${pingMs / 1_000} s`)
      return
    }
    this.#isAlive = false
    this.#socket?.ping()
    this.#pinging = this.#deps.clock.after(pingMs, () => this.#ping())
  }

  #expectFlashblock(): void {
    const { idleMs } = this.#options
    this.#setTimer(idleMs, () => this.#disconnect('silent', `no flashblock within ${idleMs / 1_000} s`))
  }

  #read(data: Buffer): void {
    this.#alive()
    this.#heardMs = this.#deps.clock.elapsedMs()
    this.#undecoded.add(data)
    if (this.#undecoded.isFull) this.#socket?.pause()
  }

  /** Handles flashblocks even if their connection has ended. */
  #decoded(decoded: DecodedMessage): void {
    if (this.#isClosed) return
    const { metrics, onFlashblock } = this.#deps
    if (this.#socket?.isPaused && !this.#undecoded.isFull) this.#socket.resume()
    this.#alive()
    if (decoded.kind === 'bad') {
      metrics.badMessages.inc({ reason: decoded.reason })
      this.accuse(`${decoded.reason}: ${decoded.text}`)
    } else {
      if (this.#isUp) this.#expectFlashblock()
      onFlashblock(decoded.flashblock)
    }
  }

  #failed(reason: string): void {
    const isTooLarge = reason === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    if (isTooLarge) {
      this.#deps.metrics.badMessages.inc({ reason: 'size' })
      this.accuse(`a message of more than ${maxMessageBytes} bytes`)
    }
    this.#disconnect(isTooLarge ? 'too-large' : this.#isUp ? 'closed' : 'unreachable', reason)
  }

  /** Ends the connection and makes another one after a delay. */
  #disconnect(reason: DisconnectReason, text: string): void {
    const { clock, random, log, metrics, onChange } = this.#deps
    const socket = this.#socket
    if (socket === undefined || this.#isClosed) return
    this.#socket = undefined
    socket.terminate()
    this.#pinging?.[Symbol.dispose]()
    if (this.#isUp && this.#isHealthy && clock.elapsedMs() - this.#openedMs >= steadyMs) this.#failures = 0
    this.#failures++
    const { backoff } = this.#options
    const delayMs = backoffMs(backoff, this.#isHealthy ? this.#failures : Number.POSITIVE_INFINITY, random())
    metrics.disconnects.inc({ reason })
    log[this.#failures === 1 ? 'warn' : 'debug']('publisher disconnected, reconnecting', { upstream: this.name, reason: text, delayMs })
    this.#isUp = false
    onChange()
    this.#setTimer(delayMs, () => this.#connect())
  }

  #setTimer(ms: number, run: () => void): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = this.#deps.clock.after(ms, run)
  }
}

export function createUpstream(deps: UpstreamDeps, options: UpstreamOptions): Upstream {
  return new SocketUpstream(deps, options)
}
