import type { Address } from '#types/ids'
import type { PoolCandidate, PoolCursor } from '../buildPool.ts'
import { tipPerGas } from '../transactionValidity.ts'
import type { PoolEntry } from './entry.ts'
import { Heap } from './heap.ts'
import type { LastAddition, Ledger } from './ledger.ts'
import type { SenderQueue } from './senderQueue.ts'

/** `rank` is the tip as a number: rounded, but never in another order. */
type Offer = { readonly entry: PoolEntry; readonly tip: bigint; readonly rank: number }

function isBefore(a: Offer, b: Offer): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank
  if (a.tip !== b.tip) return a.tip > b.tip
  return a.entry.order < b.entry.order
}

/**
 * Pending transactions, the highest tip first, each sender's by nonce. It holds an offer for the next transaction of each sender, and follows the
 * additions of the pool by itself: nobody need end it.
 */
export class BestCursor implements PoolCursor {
  readonly #queues: ReadonlyMap<Address, SenderQueue>
  readonly #baseFee: bigint
  readonly #offers: Heap<Offer>
  /** the next nonce of senders of which something was taken; none: passed over */
  readonly #nextNonces = new Map<Address, bigint | undefined>()
  readonly #onNever: (candidate: PoolCandidate) => void
  #seen: LastAddition
  #taken: PoolEntry | undefined

  /** @param baseFee wei per gas @param onNever told of what can be in no block */
  constructor(queues: ReadonlyMap<Address, SenderQueue>, ledger: Ledger, baseFee: bigint, onNever: (candidate: PoolCandidate) => void) {
    this.#queues = queues
    this.#baseFee = baseFee
    this.#seen = ledger.last
    this.#onNever = onNever
    const offers: Offer[] = []
    for (const { entries } of queues.values()) {
      const offer = entries[0] && this.#offerOf(entries[0])
      if (offer) offers.push(offer)
    }
    this.#offers = new Heap(isBefore, offers)
  }

  next(): PoolCandidate | undefined {
    this.#follow()
    for (let addition = this.#seen.next; addition !== undefined; addition = addition.next) {
      this.#seen = addition
      if (this.#isNext(addition.entry)) this.#offer(addition.entry)
    }
    for (let offer = this.#offers.pop(); offer !== undefined; offer = this.#offers.pop()) {
      const { entry } = offer
      if (entry.place !== 'pending') this.#offerNextOf(entry.sender)
      else if (this.#isNext(entry)) {
        this.#taken = entry
        this.#nextNonces.set(entry.sender, entry.tx.nonce + 1n)
        return entry
      }
    }
    return undefined
  }

  skip(candidate: PoolCandidate, why: 'now' | 'never'): void {
    this.#nextNonces.set(candidate.sender, undefined)
    if (why === 'never') this.#onNever(candidate)
  }

  /** Offers what comes after the one that was taken, unless that was skipped. */
  #follow(): void {
    if (this.#taken) this.#offerNextOf(this.#taken.sender)
    this.#taken = undefined
  }

  #offerNextOf(sender: Address): void {
    const nonce = this.#nextNonceOf(sender)
    const entry = nonce === undefined ? undefined : this.#queues.get(sender)?.at(nonce)
    if (entry) this.#offer(entry)
  }

  #isNext({ sender, tx }: PoolEntry): boolean {
    return this.#nextNonceOf(sender) === tx.nonce
  }

  /** Undefined for a sender that is passed over, or has nothing. */
  #nextNonceOf(sender: Address): bigint | undefined {
    const nonce = this.#nextNonces.get(sender)
    if (nonce === undefined && this.#nextNonces.has(sender)) return undefined
    const least = this.#queues.get(sender)?.account.nonce
    return nonce === undefined || (least !== undefined && least > nonce) ? least : nonce
  }

  #offer(entry: PoolEntry): void {
    const offer = this.#offerOf(entry)
    if (offer) this.#offers.push(offer)
  }

  #offerOf(entry: PoolEntry): Offer | undefined {
    if (entry.place !== 'pending' || entry.feeCap < this.#baseFee) return undefined
    const tip = tipPerGas(entry.tx, this.#baseFee)
    return { entry, tip, rank: Number(tip) }
  }
}
