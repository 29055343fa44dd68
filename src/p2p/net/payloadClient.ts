import type { PeerId, Stream } from '@libp2p/interface'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { headerOfPayload } from '#engine/payloadHeader'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { decodeResponse, encodeRequest, maxResponseBytes, type PayloadResponse, payloadProtocols } from '../protocol/payloadRequest.ts'
import type { FetchedOutcome, PeerCounts } from './peerEvents.ts'
import { readStream } from './readStream.ts'

export type PayloadClientDeps = {
  readonly counts: PeerCounts
  /** connected peers that register one of the protocols */
  readonly peers: () => readonly PeerId[]
  readonly open: (peer: PeerId, protocols: string[], signal: AbortSignal) => Promise<Stream>
}

const requestMs = 5_000
const maxParallel = 32
/** Requests to one peer at once: op-node answers four a second, so that the last one waits two seconds; nodes of ours take at most 16 streams. */
const maxPerPeer = 8
/** Bytes of transactions after which a call returns without the rest of its blocks. */
const maxFetchedBytes = 64 * 1_048_576
/** Peers asked for one block. */
const maxAttempts = 3
/** Consecutive answers without a block after which a peer is asked only when no other is left; also one with a penalty of at least this. */
const [uselessAfter, uselessBelow] = [4, -1]
/** Penalty for a wrong answer; it halves every minute. */
const [wrongAnswer, halfLifeMs] = [-20, 60_000]
const maxRemembered = 2_000

type Standing = { misses: number; penalty: number; atMs: number }

/** Fetches blocks by number from peers. Blocks are checked against their own hash; the caller checks that they form a chain. */
export class PayloadClient {
  readonly #deps: PayloadClientDeps
  readonly #config: RollupConfig
  readonly #protocols: string[]
  readonly #standings = new Map<string, Standing>()
  /** who returned the block of a number, to blame it */
  readonly #sources = new Map<number, string>()
  /** requests without an answer yet, by peer */
  readonly #open = new Map<string, number>()
  #next = 0

  constructor(deps: PayloadClientDeps, config: RollupConfig) {
    this.#deps = deps
    this.#config = config
    this.#protocols = [...payloadProtocols(config.l2ChainId)]
  }

  /** Returns blocks by number; undefined where no peer has one, and after the first 64 MiB. */
  async fetch(numbers: readonly number[]): Promise<readonly (Payload | undefined)[]> {
    const found: (Payload | undefined)[] = numbers.map(() => undefined)
    let at = 0
    let bytes = 0
    const work = async (): Promise<void> => {
      while (at < numbers.length && bytes < maxFetchedBytes) {
        const index = at++
        const payload = await this.#fetchOne(numbers[index] ?? 0)
        found[index] = payload
        bytes += payload?.transactions.reduce((sum, { length }) => sum + length, 0) ?? 0
      }
    }
    const places = Math.min(maxParallel, maxPerPeer * this.#deps.peers().length)
    await Promise.all(Array.from({ length: Math.min(places, numbers.length) }, work))
    return found
  }

  /** Lowers the score of the peer whose block at this number does not belong to the chain. */
  blame(number: number): void {
    const peer = this.#sources.get(number)
    if (peer !== undefined) this.#punish(peer)
  }

  /** Returns the score of a peer for its answers: 0 or less. */
  reputation(peer: string): number {
    const standing = this.#standings.get(peer)
    return standing === undefined ? 0 : standing.penalty * 0.5 ** ((performance.now() - standing.atMs) / halfLifeMs)
  }

  async #fetchOne(number: number): Promise<Payload | undefined> {
    const { counts } = this.#deps
    for (const peer of this.#candidates()) {
      const id = peer.toString()
      const answer = await this.#ask(peer, number)
      if (answer.kind === 'found') {
        counts.fetched('found')
        this.#standing(id).misses = 0
        this.#remember(number, id)
        return answer.payload
      }
      this.#standing(id).misses++
      const outcome: FetchedOutcome = answer.kind === 'malformed' ? 'malformed' : answer.kind === 'notFound' ? 'not_found' : 'failed'
      counts.fetched(outcome)
      if (outcome === 'malformed') this.#punish(id)
    }
    return undefined
  }

  /** Useful peers first, those with the fewest open requests first, in turns. */
  #candidates(): readonly PeerId[] {
    const peers = this.#deps.peers()
    const turn = this.#next++
    const openOf = (peer: PeerId): number => this.#open.get(peer.toString()) ?? 0
    const turned = [...peers.slice(turn % peers.length), ...peers.slice(0, turn % peers.length)].sort((a, b) => openOf(a) - openOf(b))
    const isUseless = (peer: PeerId): boolean => {
      const id = peer.toString()
      return (this.#standings.get(id)?.misses ?? 0) >= uselessAfter || this.reputation(id) <= uselessBelow
    }
    return [...turned.filter((peer) => !isUseless(peer)), ...turned.filter(isUseless)].slice(0, maxAttempts)
  }

  async #ask(peer: PeerId, number: number): Promise<PayloadResponse | { readonly kind: 'failed' }> {
    const id = peer.toString()
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1)
    try {
      return await this.#request(peer, number)
    } finally {
      const open = (this.#open.get(id) ?? 1) - 1
      if (open > 0) this.#open.set(id, open)
      else this.#open.delete(id)
    }
  }

  async #request(peer: PeerId, number: number): Promise<PayloadResponse | { readonly kind: 'failed' }> {
    const signal = AbortSignal.timeout(requestMs)
    let stream: Stream | undefined
    try {
      stream = await this.#deps.open(peer, this.#protocols, signal)
      stream.send(encodeRequest(number))
      // half-close: op-node reads eight bytes, Base's client closes without reading
      await stream.close({ signal }).catch(() => {})
      const answer = decodeResponse(await readStream(stream, { maxBytes: maxResponseBytes }, signal))
      return answer.kind === 'found' ? this.#checked(answer, number) : answer
    } catch (error) {
      stream?.abort(error instanceof Error ? error : new Error(String(error)))
      return { kind: 'failed' }
    }
  }

  #checked(answer: Extract<PayloadResponse, { readonly kind: 'found' }>, number: number): PayloadResponse {
    const { payload } = answer
    if (payload.blockNumber !== number) return { kind: 'malformed', reason: `block ${payload.blockNumber}` }
    const hash = hashHeader(headerOfPayload(this.#config.schedule, payload))
    return hash === payload.blockHash ? answer : { kind: 'malformed', reason: 'block hash' }
  }

  #standing(peer: string): Standing {
    const known = this.#standings.get(peer)
    if (known) return known
    const first = this.#standings.keys().next().value
    if (this.#standings.size >= maxRemembered && first !== undefined) this.#standings.delete(first)
    const standing: Standing = { misses: 0, penalty: 0, atMs: performance.now() }
    this.#standings.set(peer, standing)
    return standing
  }

  #punish(peer: string): void {
    const penalty = this.reputation(peer) + wrongAnswer
    Object.assign(this.#standing(peer), { penalty, atMs: performance.now() })
  }

  #remember(number: number, peer: string): void {
    const first = this.#sources.keys().next().value
    if (this.#sources.size >= maxRemembered && first !== undefined) this.#sources.delete(first)
    this.#sources.set(number, peer)
  }
}
