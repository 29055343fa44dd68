import type { PoolCandidate, PoolCursor } from '#block/building/buildPool'
import { tipAt } from '#block/validation/transactionValidity'
import type { Address } from '#types/ids'
import type { PoolEntry } from './entry.ts'
import { Heap } from './heap.ts'
import type { LastAddition, PoolTotals } from './poolTotals.ts'
import type { SenderQueue } from './senderQueue.ts'

/** Progress on one sender. `nonce`: the next nonce; undefined until a transaction was taken. */
type Lane = { queue: SenderQueue; nonce: bigint | undefined; isPassedOver: boolean }

/** The next transaction of a sender. `rank` is the tip rounded to a number, which preserves the order; equal ranks are compared by `tip`. */
type Offer = { readonly lane: Lane; readonly entry: PoolEntry; readonly tip: bigint; readonly rank: number }

function isBefore(a: Offer, b: Offer): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank
  if (a.tip !== b.tip) return a.tip > b.tip
  return a.entry.order < b.entry.order
}

/**
 * Pending transactions, highest tip first, each sender's in nonce order. The cursor holds an offer for the next transaction of each sender and
 * follows additions to the pool. It needs no disposal.
 */
export class BestCursor implements PoolCursor {
  readonly #queues: ReadonlyMap<Address, SenderQueue>
  readonly #baseFee: bigint
  readonly #lanes = new Map<Address, Lane>()
  readonly #offers: Heap<Offer>
  readonly #onNever: (candidate: PoolCandidate) => void
  #seen: LastAddition
  #taken: Lane | undefined

  /**
   * @param baseFee wei per gas
   * @param onNever called with each candidate that no block can take
   */
  constructor(queues: ReadonlyMap<Address, SenderQueue>, totals: PoolTotals, baseFee: bigint, onNever: (candidate: PoolCandidate) => void) {
    this.#queues = queues
    this.#baseFee = baseFee
    this.#seen = totals.last
    this.#onNever = onNever
    const offers: Offer[] = []
    for (const queue of queues.values()) {
      if (queue.pendingCount === 0) continue
      const lane = this.#open(queue)
      const offer = this.#offerOf(lane, queue.entries[0])
      if (offer) offers.push(offer)
    }
    this.#offers = new Heap(isBefore, offers)
  }

  next(): PoolCandidate | undefined {
    if (this.#taken) this.#offerNext(this.#taken)
    this.#taken = undefined
    this.#takeAdditions()
    for (let offer = this.#offers.pop(); offer !== undefined; offer = this.#offers.pop()) {
      const { lane, entry } = offer
      if (entry.place !== 'pending') this.#offerNext(lane)
      else if (entry.tx.nonce === nextNonce(lane)) {
        lane.nonce = entry.tx.nonce + 1n
        this.#taken = lane
        return entry
      }
    }
    return undefined
  }

  skip(candidate: PoolCandidate, why: 'now' | 'never'): void {
    const lane = this.#lanes.get(candidate.sender)
    if (lane) lane.isPassedOver = true
    if (why === 'never') this.#onNever(candidate)
  }

  #takeAdditions(): void {
    for (let addition = this.#seen.next; addition !== undefined; addition = addition.next) {
      this.#seen = addition
      const { sender, tx } = addition.entry
      const queue = this.#queues.get(sender)
      if (queue === undefined) continue
      const lane = this.#lanes.get(sender) ?? this.#open(queue)
      lane.queue = queue
      if (tx.nonce === nextNonce(lane)) this.#offer(lane, addition.entry)
    }
  }

  #open(queue: SenderQueue): Lane {
    const lane: Lane = { queue, nonce: undefined, isPassedOver: false }
    this.#lanes.set(queue.address, lane)
    return lane
  }

  #offerNext(lane: Lane): void {
    this.#offer(lane, lane.queue.pendingAt(nextNonce(lane)))
  }

  #offer(lane: Lane, entry: PoolEntry | undefined): void {
    const offer = this.#offerOf(lane, entry)
    if (offer) this.#offers.push(offer)
  }

  #offerOf(lane: Lane, entry: PoolEntry | undefined): Offer | undefined {
    if (lane.isPassedOver || entry?.place !== 'pending' || entry.feeCap < this.#baseFee) return undefined
    const tip = tipAt(entry.tipCap, entry.feeCap, this.#baseFee)
    return { lane, entry, tip, rank: Number(tip) }
  }
}

/** Returns the sender's next nonce. A new head may raise it to the account's nonce. */
function nextNonce({ nonce, queue }: Lane): bigint {
  const least = queue.account.nonce
  return nonce === undefined || nonce < least ? least : nonce
}
