import { payloadOfHeader } from '#engine/payloadHeader'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { RlpError } from '#lib/rlp'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { decodeBody, isBodyOf } from '../eth/blocks.ts'
import type { EthPeer } from './ethPeer.ts'
import { headerOf, type LinkedHeader, linkHeaders } from './headerChain.ts'

export const fetchedOutcomes = ['headers', 'bodies', 'empty', 'wrong', 'failed'] as const
export type FetchedOutcome = (typeof fetchedOutcomes)[number]

export type GapDeps = {
  readonly clock: Clock
  readonly log: Log
  /** connected peers */
  readonly peers: () => readonly EthPeer[]
  /** called with a peer that sent wrong data */
  readonly ban: (peer: EthPeer, why: string) => void
  /** Returns whether a block is canonical here. */
  readonly isCanonical: (block: BlockId) => Promise<boolean>
  readonly onFetched: (outcome: FetchedOutcome) => void
}

export type GapFailure = 'unavailable' | 'too_far' | 'wrong'

/** Most blocks of a gap: 3.6 hours of blocks of 200 ms. Their headers take about 40 MiB. */
const maxGapBlocks = 65_536
/** Headers of one request; of one below the head of this node, where each is compared. */
const [headersAtOnce, headersBelow] = [1_024, 64]
/** Blocks and bytes that wait for the caller. */
const [maxReadyBlocks, maxReadyBytes] = [4_096, 32 * 2 ** 20]
/** Blocks and bytes of one result. */
const [sliceBlocks, sliceBytes] = [128, 2 * 2 ** 20]
/** Bodies of one request, at first and at most; a response that is not cut off doubles it. */
const [firstBodies, maxBodies] = [32, 512]
const fullBytes = 512 * 1_024
/** Pause before a peer that lacked a block is asked again, doubled each time up to a bound. */
const [againMs, maxAgainMs] = [1_000, 16_000]
/** Time until the gap fails: with no peer to ask, and while peers are asked and none returns the next block. */
const [giveUpMs, stalledMs] = [6_000, 30_000]
/** Time after which another peer is asked too, when the caller waits for the block. */
const lateMs = 2_000
/** Time for all headers of a gap: peers that return one at a time must not hold up the caller. */
const headersMs = 90_000

const sizeOf = (transactions: readonly Uint8Array[]): number => transactions.reduce((sum, { length }) => sum + length, 1_024)

type Ready = { readonly payload: Payload; readonly bytes: number }

/**
 * The missing ancestors of a known block: headers backwards by hash, then bodies forwards. Each header is tied to the known block by its hash and each
 * body to its header by its roots, before the caller sees it. Blocks are requested from several peers at once; a peer that sends something else is
 * banned.
 */
export class Gap {
  readonly #deps: GapDeps
  /** oldest last, until all are there; then oldest first from `#at` on */
  #headers: LinkedHeader[] = []
  readonly #ready = new Map<number, Ready>()
  #readyBytes = 0
  /** index of the next block for the caller */
  #at = 0
  /** indexes that are requested, since when */
  readonly #requested = new Map<number, number>()
  #from = 0
  #size = firstBodies
  /** peers that lacked a block: how often since they returned all, and until when they are not asked */
  readonly #lacking = new WeakMap<EthPeer, { readonly times: number; readonly untilMs: number }>()
  /** milliseconds for each header of a peer's last response */
  readonly #paceMs = new WeakMap<EthPeer, number>()
  #progressMs: number
  #isClosed = false
  #ring: () => void = () => {}

  private constructor(deps: GapDeps) {
    this.#deps = deps
    this.#progressMs = deps.clock.elapsedMs()
  }

  /**
   * Fetches the headers from a block down to a canonical one.
   * @param top newest missing block
   * @param floor number of the head: down to it, no header is compared with this node's chain
   * @param lowest number below which nothing may be replaced
   */
  static async open(deps: GapDeps, top: BlockId, floor: number, lowest: number, signal: AbortSignal): Promise<Gap | GapFailure> {
    const gap = new Gap(deps)
    const failure = await gap.#fetchHeaders(top, floor, lowest, signal)
    if (failure !== undefined) return failure
    gap.#headers.reverse()
    return gap
  }

  get blocks(): number {
    return this.#headers.length
  }

  close(): void {
    this.#isClosed = true
    this.#headers = []
    this.#ready.clear()
    this.#ring()
  }

  /** Returns the next blocks, oldest first; none: all are returned. 'unavailable': no peer has the next one. */
  async next(signal: AbortSignal): Promise<readonly Payload[] | 'unavailable'> {
    // the time that the caller took for the blocks before does not count
    this.#progressMs = this.#deps.clock.elapsedMs()
    for (;;) {
      // a closed gap has no headers, and is not filled
      signal.throwIfAborted()
      if (this.#at >= this.#headers.length) return []
      const blocks = this.#take()
      this.#pump()
      if (blocks.length > 0) return blocks
      const waitedMs = this.#deps.clock.elapsedMs() - this.#progressMs
      if (waitedMs > (this.#requested.size === 0 ? giveUpMs : stalledMs)) return 'unavailable'
      await this.#change()
    }
  }

  #take(): readonly Payload[] {
    const blocks: Payload[] = []
    let bytes = 0
    for (
      let ready = this.#ready.get(this.#at);
      ready && blocks.length < sliceBlocks && bytes < sliceBytes;
      ready = this.#ready.get(this.#at)
    ) {
      this.#ready.delete(this.#at)
      this.#at++
      this.#readyBytes -= ready.bytes
      bytes += ready.bytes
      blocks.push(ready.payload)
    }
    return blocks
  }

  /** Resolves when a response has arrived, or after a pause. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(againMs, () => done())
      const done = (): void => {
        timer[Symbol.dispose]()
        this.#ring = (): void => {}
        resolve()
      }
      this.#ring = done
    })
  }

  /** Returns the peers that can be asked: first those that lacked no block, then by the time that a header of their last response took. */
  #free(): readonly EthPeer[] {
    const nowMs = this.#deps.clock.elapsedMs()
    const timesOf = (peer: EthPeer): number => this.#lacking.get(peer)?.times ?? 0
    const paceOf = (peer: EthPeer): number => this.#paceMs.get(peer) ?? 0
    return this.#deps
      .peers()
      .filter((peer) => !peer.isBusy && (this.#lacking.get(peer)?.untilMs ?? 0) <= nowMs)
      .toSorted((a, b) => timesOf(a) - timesOf(b) || paceOf(a) - paceOf(b))
  }

  async #fetchHeaders(top: BlockId, floor: number, lowest: number, signal: AbortSignal): Promise<GapFailure | undefined> {
    if (top.number - floor > maxGapBlocks) return 'too_far'
    const { clock } = this.#deps
    const untilMs = clock.elapsedMs() + headersMs
    let next = top
    while (next.number > floor || !(await this.#deps.isCanonical(next))) {
      if (next.number <= lowest) return 'wrong'
      if (this.#headers.length >= maxGapBlocks) return 'too_far'
      signal.throwIfAborted()
      if (clock.elapsedMs() > untilMs) return 'unavailable'
      const [peer] = this.#free()
      if (peer === undefined) {
        if (clock.elapsedMs() - this.#progressMs > giveUpMs) return 'unavailable'
        await this.#change()
        continue
      }
      const amount = next.number > floor ? Math.min(headersAtOnce, next.number - floor) : Math.min(headersBelow, next.number - lowest)
      next = await this.#headersFrom(peer, next, amount, floor)
    }
    return undefined
  }

  /** Appends the headers that a peer returns. @returns the block below them */
  async #headersFrom(peer: EthPeer, top: BlockId, amount: number, floor: number): Promise<BlockId> {
    const { clock } = this.#deps
    const fromMs = clock.elapsedMs()
    const items = await this.#ask(peer, () => peer.headers({ origin: top.hash, amount, skip: 0, isReverse: true }))
    if (items === undefined) return top
    const linked = this.#checked(peer, () => (items.length > amount ? undefined : linkHeaders(top, items)))
    if (linked?.kind !== 'linked') {
      if (linked) this.#wrong(peer, linked.why)
      return top
    }
    if (linked.headers.length === 0) {
      this.#lacks(peer)
      return top
    }
    this.#deps.onFetched('headers')
    this.#progressMs = clock.elapsedMs()
    this.#paceMs.set(peer, (this.#progressMs - fromMs) / linked.headers.length)
    if (top.number > floor) {
      this.#headers.push(...linked.headers)
      return linked.parent
    }
    return await this.#untilCanonical(top, linked.headers, linked.parent)
  }

  /** Appends headers below the head of this node until one is canonical. */
  async #untilCanonical(top: BlockId, headers: readonly LinkedHeader[], parent: BlockId): Promise<BlockId> {
    let number = top.number
    for (const header of headers) {
      if (number < top.number && (await this.#deps.isCanonical({ number, hash: header.hash }))) return { number, hash: header.hash }
      this.#headers.push(header)
      number--
    }
    return parent
  }

  /** Assigns the next bodies to the free peers. */
  #pump(): void {
    if (this.#isClosed) return
    const nowMs = this.#deps.clock.elapsedMs()
    for (const peer of this.#free()) {
      const batch = this.#batch(nowMs)
      if (batch.length === 0) return
      for (const index of batch) this.#requested.set(index, nowMs)
      void this.#bodiesFrom(peer, batch).finally(() => {
        // a block that was late is requested from another peer since
        for (const index of batch) if (this.#requested.get(index) === nowMs) this.#requested.delete(index)
        this.#pump()
        this.#ring()
      })
    }
  }

  /** Returns the lowest indexes that are neither ready nor requested, or late while the caller waits, within the bounds of waiting blocks. */
  #batch(nowMs: number): readonly number[] {
    const batch: number[] = []
    const end = Math.min(this.#headers.length, this.#at + maxReadyBlocks)
    if (this.#readyBytes >= maxReadyBytes && this.#ready.has(this.#at)) return batch
    this.#from = Math.max(this.#from, this.#at)
    while (this.#ready.has(this.#from)) this.#from++
    const isWaitedFor = !this.#ready.has(this.#at)
    for (let index = this.#from; index < end && batch.length < this.#size; index++) {
      if (this.#ready.has(index)) continue
      const sinceMs = this.#requested.get(index)
      if (sinceMs === undefined || (isWaitedFor && nowMs - sinceMs > lateMs)) batch.push(index)
    }
    return batch
  }

  async #bodiesFrom(peer: EthPeer, batch: readonly number[]): Promise<void> {
    const headers = batch.map((index) => this.#headers[index])
    const hashes = headers.flatMap((header): Hash[] => (header ? [header.hash] : []))
    const items = await this.#ask(peer, () => peer.bodies(hashes))
    if (items === undefined || this.#isClosed) return
    if (items.length === 0) return void this.#lacks(peer)
    const found = this.#checked(peer, () => this.#match(batch, items))
    if (found === undefined) return
    this.#progressMs = this.#deps.clock.elapsedMs()
    this.#deps.onFetched('bodies')
    let bytes = 0
    for (const [index, ready] of found) {
      bytes += ready.bytes
      if (index < this.#at || this.#ready.has(index)) continue
      this.#ready.set(index, ready)
      this.#readyBytes += ready.bytes
    }
    const isCut = found.size < batch.length
    if (isCut) this.#size = Math.max(1, Math.min(this.#size, found.size))
    else if (bytes < fullBytes) this.#size = Math.min(maxBodies, Math.max(this.#size, 2 * batch.length))
    if (isCut && bytes < fullBytes) this.#lacks(peer)
    else this.#lacking.delete(peer)
  }

  /** Matches bodies with their headers. Servers leave out blocks that they lack, so a body may be that of a later header. @throws RlpError */
  #match(batch: readonly number[], items: readonly Uint8Array[]): ReadonlyMap<number, Ready> | undefined {
    const found = new Map<number, Ready>()
    let at = 0
    for (const item of items) {
      const transactions = decodeBody(item)
      const ready = (): Ready | undefined => {
        for (; at < batch.length; at++) {
          const index = batch[at]
          const linked = index === undefined ? undefined : this.#headers[index]
          if (index === undefined || linked === undefined) continue
          const header = headerOf(linked)
          if (!isBodyOf(header, transactions)) continue
          at++
          // copies: a view would carry the whole message to the other thread
          const copies = transactions.map((raw) => raw.slice())
          const one = { payload: payloadOfHeader(header, linked.hash, copies), bytes: sizeOf(copies) }
          found.set(index, one)
          return one
        }
        return undefined
      }
      if (ready() === undefined) return undefined
    }
    return found
  }

  async #ask(peer: EthPeer, request: () => Promise<readonly Uint8Array[]>): Promise<readonly Uint8Array[] | undefined> {
    try {
      return await request()
    } catch (error) {
      this.#deps.onFetched('failed')
      this.#deps.log.debug('request to an execution peer failed', { host: peer.host, reason: errorMessage(error) })
      return undefined
    }
  }

  /** Runs a check of a peer's response. `undefined` and malformed data ban the peer. */
  #checked<T>(peer: EthPeer, check: () => T | undefined): T | undefined {
    try {
      const result = check()
      if (result === undefined) this.#wrong(peer, 'the response does not match the request')
      return result
    } catch (error) {
      if (!(error instanceof RlpError)) throw error
      this.#wrong(peer, errorMessage(error))
      return undefined
    }
  }

  #wrong(peer: EthPeer, why: string): void {
    this.#deps.onFetched('wrong')
    this.#deps.ban(peer, why)
  }

  #lacks(peer: EthPeer): void {
    this.#deps.onFetched('empty')
    const times = (this.#lacking.get(peer)?.times ?? 0) + 1
    const pauseMs = Math.min(maxAgainMs, againMs * 2 ** (times - 1))
    this.#lacking.set(peer, { times, untilMs: this.#deps.clock.elapsedMs() + pauseMs })
  }
}
