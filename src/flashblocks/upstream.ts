import { type ClientOptions, WebSocket } from 'ws'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Log } from '#lib/log'
import { type Backoff, backoffMs, type Random } from '#lib/retry'
import { type DecodedMessage, type Frame, maxMessageBytes } from './decode.ts'
import { flashblocksFault } from './faults.ts'
import { FrameQueue } from './messageQueue.ts'
import type { DisconnectReason, FlashblocksMetrics } from './metrics.ts'

export type UpstreamDeps = {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: Pick<FlashblocksMetrics, 'badFrames' | 'disconnects'>
  /** Decodes a message, in another thread. */
  readonly decode: (message: Uint8Array) => Promise<DecodedMessage>
  readonly onFrame: (frame: Frame) => void
  /** Told after each change of `isUp` and `isHealthy`. */
  readonly onChange: () => void
}

export type UpstreamOptions = {
  readonly endpoint: Endpoint
  readonly connectTimeoutMs: number
  /** between two pings; one that is not answered by the next ends the connection */
  readonly pingMs: number
  /** without a frame: then the connection is made anew */
  readonly idleMs: number
  readonly backoff: Backoff
  /** messages that are wrong, and none between that fitted: then it is unhealthy */
  readonly maxFaults: number
}

/** A publisher that is listened to, as long as it can be reached. */
export interface Upstream extends Disposable {
  /** host and port */
  readonly name: string
  readonly isUp: boolean
  /** false from too many faults in a row until a frame of it fits */
  readonly isHealthy: boolean
  /** when its last message came, by the clock that does not jump; undefined: none did */
  readonly heardMs: number | undefined
  /** One of its frames fitted. */
  praise(): void
  /** One of its frames was wrong. @param text what and where, for the log */
  accuse(text: string): void
}

/** A connection that stays for so long is no failure of the one before it any more. */
const steadyMs = 10_000
/** Between two warnings of what one upstream sends. */
const quietMs = 10_000

/**
 * One connection at a time, made again after every end, the clean ones too. Which frames are believed is not decided here; who sends too many that
 * are wrong is left for a while, and for every further wrong one until one fits.
 */
class SocketUpstream implements Upstream {
  readonly #deps: UpstreamDeps
  readonly #options: UpstreamOptions
  readonly #clientOptions: ClientOptions
  readonly #undecoded: FrameQueue
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
    this.#undecoded = new FrameQueue({
      decode: deps.decode,
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
    this.#deps.log.info('the feed is healthy again', { upstream: this.name })
    this.#deps.onChange()
  }

  accuse(text: string): void {
    const { log, onChange, clock } = this.#deps
    this.#faults++
    const nowMs = clock.elapsedMs()
    const isQuiet = nowMs - this.#warnedMs < quietMs
    if (!isQuiet) this.#warnedMs = nowMs
    log[isQuiet ? 'debug' : 'warn']('the feed sent something wrong', { upstream: this.name, what: text, faults: this.#faults })
    if (this.#faults < this.#options.maxFaults) return
    this.#undecoded.clear()
    if (this.#isHealthy) {
      this.#isHealthy = false
      log.warn('the feed is unhealthy', {
        error: flashblocksFault('FEED_UNHEALTHY', { upstream: this.name, faults: this.#faults, last: text }),
      })
      onChange()
    }
    this.#giveUp('unhealthy', text)
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
    this.#setTimer(connectTimeoutMs, () => this.#giveUp('unreachable', `no connection within ${connectTimeoutMs / 1_000} s`))
    socket.on('open', () => ofThis(() => this.#opened()))
    socket.on('pong', () => ofThis(() => this.#alive()))
    socket.on('message', (data: Buffer) => ofThis(() => this.#read(data)))
    socket.on('error', (error: NodeJS.ErrnoException) => ofThis(() => this.#failed(error.code ?? error.message)))
    socket.on('close', (code) => ofThis(() => this.#giveUp('closed', `closed with ${code}`)))
  }

  #opened(): void {
    this.#isUp = true
    this.#openedMs = this.#deps.clock.elapsedMs()
    this.#deps.log.info('the feed is connected', { upstream: this.name })
    this.#deps.onChange()
    this.#expectFrame()
    this.#isAlive = true
    this.#ping()
  }

  #alive(): void {
    this.#isAlive = true
  }

  /** Anything that comes shows that the connection lives; a pong need not overtake frames. */
  #ping(): void {
    const { pingMs } = this.#options
    if (!this.#isAlive) {
      this.#giveUp('no-pong', `no pong within ${pingMs / 1_000} s`)
      return
    }
    this.#isAlive = false
    this.#socket?.ping()
    this.#pinging = this.#deps.clock.after(pingMs, () => this.#ping())
  }

  #expectFrame(): void {
    const { idleMs } = this.#options
    this.#setTimer(idleMs, () => this.#giveUp('silent', `no frame within ${idleMs / 1_000} s`))
  }

  #read(data: Buffer): void {
    this.#alive()
    this.#heardMs = this.#deps.clock.elapsedMs()
    this.#undecoded.add(data)
    if (this.#undecoded.isFull) this.#socket?.pause()
  }

  /** Frames count when their connection has ended meanwhile, too. */
  #decoded(decoded: DecodedMessage): void {
    if (this.#isClosed) return
    const { metrics, onFrame } = this.#deps
    if (this.#socket?.isPaused && !this.#undecoded.isFull) this.#socket.resume()
    this.#alive()
    if (decoded.kind === 'bad') {
      metrics.badFrames.inc({ reason: decoded.reason })
      this.accuse(`${decoded.reason}: ${decoded.text}`)
    } else {
      if (this.#isUp) this.#expectFrame()
      onFrame(decoded.frame)
    }
  }

  #failed(reason: string): void {
    const isTooLarge = reason === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    if (isTooLarge) {
      this.#deps.metrics.badFrames.inc({ reason: 'size' })
      this.accuse(`a message of more than ${maxMessageBytes} bytes`)
    }
    this.#giveUp(isTooLarge ? 'too-large' : this.#isUp ? 'closed' : 'unreachable', reason)
  }

  /** Ends the connection, and makes another one after a while. */
  #giveUp(reason: DisconnectReason, text: string): void {
    const { clock, random, log, metrics, onChange } = this.#deps
    const given = this.#socket
    if (given === undefined || this.#isClosed) return
    this.#socket = undefined
    given.terminate()
    this.#pinging?.[Symbol.dispose]()
    if (this.#isUp && this.#isHealthy && clock.elapsedMs() - this.#openedMs >= steadyMs) this.#failures = 0
    this.#failures++
    const { backoff } = this.#options
    const delayMs = backoffMs(backoff, this.#isHealthy ? this.#failures : Number.POSITIVE_INFINITY, random())
    metrics.disconnects.inc({ reason })
    log[this.#failures === 1 ? 'warn' : 'debug']('the feed is not connected', { upstream: this.name, reason: text, delayMs })
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
