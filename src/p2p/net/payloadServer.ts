import type { Connection, Stream } from '@libp2p/interface'
import { blockIntervalMs, numberAt } from '#chainspec/blockTime'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Clock } from '#lib/clock'
import { RateLimit } from '#lib/peers/rateLimit'
import type { Payload } from '#types/payload'
import { decodeRequest, encodeFailure, encodeFound, requestBytes } from '../protocol/payloadRequest.ts'
import { blockVersionAt } from '../protocol/topics.ts'
import type { PeerCounts, ServedOutcome } from './peerEvents.ts'
import { readStream } from './readStream.ts'

export type PayloadServerDeps = {
  readonly clock: Clock
  readonly counts: PeerCounts
  readonly canonical: (number: number) => Promise<Payload | undefined>
}

/** Of a chain with blocks of two seconds. @see op-node p2p/sync.go, the server's limits */
const limits = { perSec: 20, burst: 40, peerPerSec: 4, peerBurst: 15, readMs: 5_000, findMs: 10_000, writeMs: 10_000, maxWaitMs: 20_000 }
const usualIntervalMs = 2_000

/** Returns the factor of the limits: a peer that is behind must fetch blocks faster than new ones arrive, after the last planned fork too. */
const paceOf = (config: RollupConfig): number => usualIntervalMs / blockIntervalMs(config, 2 ** 40)
const maxLimitedPeers = 1_000
/** Requests that may wait or be answered at once: each holds at most one block. */
const maxOpen = 32
/** Of one peer: the eight that clients of ours send at once, and those before them whose streams are not closed yet. */
const maxOpenByPeer = 12

type Answer = { readonly outcome: ServedOutcome; readonly bytes: Uint8Array }

/** Answers `payload_by_number`. */
export class PayloadServer {
  readonly #deps: PayloadServerDeps
  readonly #config: RollupConfig
  readonly #all: RateLimit
  readonly #byPeer = new Map<string, RateLimit>()
  readonly #pace: number
  #open = 0
  readonly #openByPeer = new Map<string, number>()

  constructor(deps: PayloadServerDeps, config: RollupConfig) {
    this.#deps = deps
    this.#config = config
    this.#pace = paceOf(config)
    this.#all = new RateLimit(deps.clock, limits.perSec * this.#pace, limits.burst * this.#pace)
  }

  /** Handles a stream; never rejects. */
  async handle(stream: Stream, connection: Pick<Connection, 'remotePeer'>): Promise<void> {
    const { counts } = this.#deps
    const peer = connection.remotePeer.toString()
    const ofPeer = this.#openByPeer.get(peer) ?? 0
    if (this.#open >= maxOpen || ofPeer >= maxOpenByPeer) {
      counts.served('throttled')
      stream.abort(new Error('too many requests'))
      return
    }
    this.#open++
    this.#openByPeer.set(peer, ofPeer + 1)
    const closed = new AbortController()
    stream.addEventListener('close', () => closed.abort(new Error('the peer has closed the stream')), { once: true })
    try {
      const request = await readStream(stream, { maxBytes: 4_096, enoughBytes: requestBytes }, AbortSignal.timeout(limits.readMs))
      const { outcome, bytes } = await this.#answer(request, peer, closed.signal)
      stream.send(bytes)
      await stream.close({ signal: AbortSignal.timeout(limits.writeMs) })
      counts.served(outcome)
    } catch (error) {
      counts.served('failed')
      stream.abort(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#open--
      const left = (this.#openByPeer.get(peer) ?? 1) - 1
      if (left > 0) this.#openByPeer.set(peer, left)
      else this.#openByPeer.delete(peer)
    }
  }

  async #answer(request: Uint8Array, peer: string, closed: AbortSignal): Promise<Answer> {
    if (!(await this.#admit(peer, closed))) return { outcome: 'throttled', bytes: encodeFailure('serverError') }
    if (request.length < requestBytes) return { outcome: 'bad_request', bytes: encodeFailure('serverError') }
    const number = decodeRequest(request)
    const last = numberAt(this.#config, this.#deps.clock.nowMs())
    if (number === undefined || last === undefined || number > last || number < this.#config.genesis.l2.number)
      return { outcome: 'bad_request', bytes: encodeFailure('badRequest') }
    const payload = await Promise.race([this.#deps.canonical(number), timeout(limits.findMs)])
    if (payload === undefined) return { outcome: 'not_found', bytes: encodeFailure('notFound') }
    return { outcome: 'found', bytes: encodeFound(payload, blockVersionAt(this.#config.schedule, payload.timestamp)) }
  }

  /** Waits until the limits allow the request. @returns false when the wait would be too long @throws Error when the stream is closed meanwhile */
  async #admit(peer: string, closed: AbortSignal): Promise<boolean> {
    const own = this.#limitOf(peer)
    const waitMs = Math.max(own.take(), this.#all.take())
    if (waitMs > limits.maxWaitMs) {
      own.giveBack()
      this.#all.giveBack()
      return false
    }
    if (waitMs > 0) await this.#deps.clock.delay(waitMs, closed)
    return true
  }

  #limitOf(peer: string): RateLimit {
    const known = this.#byPeer.get(peer)
    if (known) return known
    if (this.#byPeer.size >= maxLimitedPeers) for (const [id, limit] of this.#byPeer) if (limit.isFull) this.#byPeer.delete(id)
    const limit = new RateLimit(this.#deps.clock, limits.peerPerSec * this.#pace, limits.peerBurst * this.#pace)
    this.#byPeer.set(peer, limit)
    return limit
  }
}

function timeout(ms: number): Promise<never> {
  const signal = AbortSignal.timeout(ms)
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}
