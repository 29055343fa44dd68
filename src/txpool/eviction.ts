import type { Address } from '#types/ids'
import { type PoolEntry, worthOf } from './entry.ts'
import { Heap } from './heap.ts'
import type { SenderQueue } from './senderQueue.ts'

/** Rank of a transaction for eviction. A queued transaction ranks below every pending one; equals are ranked by their worth. */
export type Standing = { readonly isPending: boolean; readonly worth: bigint }

/** An arriving transaction. The last `spared` transactions of its sender leave in any case; those up to its nonce stay. */
export type Newcomer = Standing & { readonly queue: SenderQueue; readonly nonce: bigint; readonly spared: number }

/** The last transaction of a sender, or with `depth` > 0 the last one without the `depth` in a plan; then it is valid for that plan only. */
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

/** Of two transactions with equal rank, the later arrival is evicted first. */
const goesBefore = (a: Tail, b: Tail): boolean => isLess(a, b) || (!isLess(b, a) && a.order > b.order)

/** Maximum number of outdated records beyond the queues, before all records are rebuilt. */
const spareRecords = 10_000

/**
 * Chooses transactions to evict from a full pool. It always evicts the last transaction of a sender, because the sender's earlier ones do not depend
 * on it, and the lowest ranked of these. It is built when the pool is full and valid for one base fee; `changed` keeps it up to date.
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

  /** Returns transactions of at least `bytes` together that rank below the newcomer; undefined when there are not enough. */
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

  /** Pops the lowest ranked valid tail that may leave. Tails that stay valid after this plan are added to `seen`. */
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
