import type { Address } from '#types/ids'
import { type PoolEntry, worthOf } from './entry.ts'
import { Heap } from './heap.ts'
import type { SenderQueue } from './senderQueue.ts'

/** What a transaction counts when room is short: a queued one less than any that is pending; among equals what it is worth to a block. */
export type Standing = { readonly isPending: boolean; readonly worth: bigint }

/** One that is to come. Of its sender the last `spared` go in any case, and those up to its nonce stay. */
export type Newcomer = Standing & { readonly queue: SenderQueue; readonly nonce: bigint; readonly spared: number }

/** The last of a sender's, or what `depth` others leave as the last in a plan: then it is of use to that plan only. */
type Tail = Standing & {
  readonly queue: SenderQueue
  readonly version: number
  readonly depth: number
  readonly order: number
  readonly plan: number | undefined
}

function isLess(a: Standing, b: Standing): boolean {
  return a.isPending === b.isPending ? a.worth < b.worth : b.isPending
}

/** Of equals the one that came last goes first. */
const goesBefore = (a: Tail, b: Tail): boolean => isLess(a, b) || (!isLess(b, a) && a.order > b.order)

/** Room for records that changes have made void, before all are made anew. */
const spareRecords = 10_000

/**
 * Who has to go when the pool is full: always the last transaction of a sender, for the earlier ones can do without it, and of all senders' the
 * one that counts least. It is made when room is short, and is of use as long as the base fee stays; `changed` keeps it true meanwhile.
 */
export class Eviction {
  readonly #queues: ReadonlyMap<Address, SenderQueue>
  readonly #baseFee: bigint
  #tails: Heap<Tail>
  #plan = 0

  constructor(queues: ReadonlyMap<Address, SenderQueue>, baseFee: bigint) {
    this.#queues = queues
    this.#baseFee = baseFee
    this.#tails = this.#all()
  }

  changed(queue: SenderQueue): void {
    if (this.#tails.size > 2 * this.#queues.size + spareRecords) this.#tails = this.#all()
    const tail = tailOf(queue, 0, this.#baseFee, undefined)
    if (tail) this.#tails.push(tail)
  }

  /** Transactions that count less than the one that comes, of so many bytes together at least; undefined when there are not enough. */
  plan(bytes: number, newcomer: Newcomer): readonly PoolEntry[] | undefined {
    this.#plan++
    const eviction: PoolEntry[] = []
    const seen: Tail[] = []
    let freed = 0
    while (freed < bytes) {
      const tail = this.#next(newcomer, seen)
      const candidate = tail?.queue.entries.at(-1 - tail.depth)
      if (tail === undefined || candidate === undefined || !isLess(tail, newcomer)) break
      eviction.push(candidate)
      freed += candidate.heldBytes
      this.#pushTail(tail.queue, tail.depth + 1, newcomer)
    }
    for (const tail of seen) this.#tails.push(tail)
    return freed < bytes ? undefined : eviction
  }

  /** The tail that counts least of those that still stand and may go; those that outlast the plan are seen. */
  #next(newcomer: Newcomer, seen: Tail[]): Tail | undefined {
    for (let tail = this.#tails.pop(); tail !== undefined; tail = this.#tails.pop()) {
      if (!this.#holds(tail)) continue
      if (tail.plan !== undefined) return tail
      seen.push(tail)
      if (tail.queue !== newcomer.queue) return tail
      this.#pushTail(tail.queue, newcomer.spared, newcomer)
    }
    return undefined
  }

  #pushTail(queue: SenderQueue, depth: number, newcomer: Newcomer): void {
    const tail = tailOf(queue, depth, this.#baseFee, this.#plan)
    const nonce = queue.entries.at(-1 - depth)?.tx.nonce ?? 0n
    if (tail && (queue !== newcomer.queue || nonce > newcomer.nonce)) this.#tails.push(tail)
  }

  #holds({ queue, version, plan }: Tail): boolean {
    return version === queue.version && (plan === undefined || plan === this.#plan)
  }

  #all(): Heap<Tail> {
    const tails: Tail[] = []
    for (const queue of this.#queues.values()) {
      const tail = tailOf(queue, 0, this.#baseFee, undefined)
      if (tail) tails.push(tail)
    }
    return new Heap(goesBefore, tails)
  }
}

function tailOf(queue: SenderQueue, depth: number, baseFee: bigint, plan: number | undefined): Tail | undefined {
  const entry = queue.entries.at(-1 - depth)
  if (entry === undefined) return undefined
  const isPending = entry.place === 'pending'
  return { queue, version: queue.version, depth, plan, order: entry.order, isPending, worth: worthOf(entry, baseFee) }
}
