import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Hash } from '#types/ids'
import type { Slice } from '../chainReads.ts'
import { decodeGetHeaders, decodeHashes, type EthVersion, ethMessage, type HeadersQuery } from '../eth/messages.ts'
import type { EthPeer } from './ethPeer.ts'

/** Reads of the chain, answered by the main thread in slices. */
export interface ChainReads {
  headers(query: HeadersQuery): Promise<Slice<HeadersQuery>>
  bodies(hashes: readonly Hash[]): Promise<Slice<readonly Hash[]>>
  receipts(version: EthVersion, hashes: readonly Hash[]): Promise<Slice<readonly Hash[]>>
}

export const servedOutcomes = ['headers', 'bodies', 'receipts', 'transactions', 'failed'] as const
export type ServedOutcome = (typeof servedOutcomes)[number]
const noneServed: Readonly<Record<ServedOutcome, number>> = { headers: 0, bodies: 0, receipts: 0, transactions: 0, failed: 0 }

/** Bounds of a response. */
const [maxItems, softBytes] = [1_024, 2 * 2 ** 20]
/** Most hashes of a request; other clients ask for at most 1,024. */
const maxHashes = 4_096
/** Requests of a peer that wait. */
const maxQueued = 32
const blockedMs = 100
/** Part of the main thread's time that reads for peers may take: 1 of 10. */
const pausesPerMs = 9

type Request = { readonly message: number; readonly body: Uint8Array }

/**
 * Answers requests for headers, bodies and receipts: those of one peer in their order, one at a time, and those of all peers within a share of the
 * time of the thread that reads. A response ends at two MiB, as with other clients.
 */
export class ChainServer {
  readonly #clock: Clock
  readonly #reads: ChainReads
  readonly #queues = new WeakMap<EthPeer, Request[]>()
  #freeAtMs = 0
  #served: Record<ServedOutcome, number> = { ...noneServed }

  constructor(clock: Clock, reads: ChainReads) {
    this.#clock = clock
    this.#reads = reads
  }

  /** Returns the counts since the last call. */
  taken(): Readonly<Record<ServedOutcome, number>> {
    const served = this.#served
    this.#served = { ...noneServed }
    return served
  }

  /** Takes a request. A peer with too many of them is disconnected. */
  onRequest(peer: EthPeer, message: number, body: Uint8Array): void {
    const queue = this.#queues.get(peer)
    if (queue === undefined) {
      this.#queues.set(peer, [{ message, body }])
      void this.#serve(peer)
    } else if (queue.length >= maxQueued) peer.disconnect('subprotocol_error', `more than ${maxQueued} requests at once`)
    else queue.push({ message, body })
  }

  async #serve(peer: EthPeer): Promise<void> {
    const queue = this.#queues.get(peer)
    for (let request = queue?.[0]; request && queue; queue.shift(), request = queue[0]) {
      // nothing is read for a peer that has not taken earlier answers
      while (peer.isBlocked && peer.isReady) await this.#clock.delay(blockedMs)
      if (!peer.isReady) break
      try {
        await this.#answer(peer, request)
      } catch (error) {
        this.#served.failed++
        peer.disconnect('subprotocol_error', errorMessage(error))
      }
    }
    this.#queues.delete(peer)
  }

  async #answer(peer: EthPeer, { message, body }: Request): Promise<void> {
    const { version } = peer
    switch (message) {
      case ethMessage.getBlockHeaders: {
        const { id, query } = decodeGetHeaders(body)
        const bounded = { ...query, amount: Math.min(query.amount, maxItems) }
        this.#served.headers++
        return void peer.reply(message, id, await this.#collect(bounded, (next) => this.#reads.headers(next)))
      }
      case ethMessage.getBlockBodies: {
        const { id, hashes } = decodeHashes(body, maxHashes)
        this.#served.bodies++
        return void peer.reply(
          message,
          id,
          await this.#collect<readonly Hash[]>(hashes.slice(0, maxItems), (next) => this.#reads.bodies(next)),
        )
      }
      case ethMessage.getReceipts: {
        const { id, hashes } = decodeHashes(body, maxHashes)
        if (version === undefined) return
        this.#served.receipts++
        const read = (next: readonly Hash[]): Promise<Slice<readonly Hash[]>> => this.#reads.receipts(version, next)
        return void peer.reply(message, id, await this.#collect(hashes.slice(0, maxItems), read))
      }
      case ethMessage.getPooledTransactions: {
        // transactions are not gossiped: none is there
        const { id } = decodeHashes(body, maxHashes)
        this.#served.transactions++
        return void peer.replyTransactions(id)
      }
      default:
        return
    }
  }

  async #collect<Next>(first: Next, read: (next: Next) => Promise<Slice<Next>>): Promise<readonly Uint8Array[]> {
    const items: Uint8Array[] = []
    let bytes = 0
    let next: Next | undefined = first
    while (next !== undefined && bytes < softBytes) {
      await this.#turn()
      const slice: Slice<Next> = await read(next)
      this.#freeAtMs = Math.max(this.#freeAtMs, this.#clock.elapsedMs()) + slice.ms * pausesPerMs
      for (const item of slice.items) {
        if (bytes >= softBytes) break
        items.push(item)
        bytes += item.length
      }
      next = slice.next
    }
    return items
  }

  /** Waits until reads for peers have their turn again. */
  async #turn(): Promise<void> {
    for (;;) {
      const waitMs = this.#freeAtMs - this.#clock.elapsedMs()
      if (waitMs <= 0.5) return
      await this.#clock.delay(Math.ceil(waitMs))
    }
  }
}
