export type SeatLimits = { readonly max: number; readonly maxPerClient: number }

/** Outcome of a request for a seat; `evicted` lost its seat to the new connection. */
export type Seating<T> = { readonly kind: 'seated'; readonly evicted?: T } | { readonly kind: 'refused'; readonly why: 'full' | 'address' }

/**
 * Seats of connections, bounded in total and by client. When no seat is free, the client with the most seats loses its oldest one to a client that
 * has at least two fewer, so no client keeps the others out.
 */
export class Seats<T> {
  readonly #limits: SeatLimits
  /** connections of each client, the oldest first */
  readonly #byClient = new Map<string, Set<T>>()
  readonly #clients = new Map<T, string>()

  constructor(limits: SeatLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#clients.size
  }

  /** Iterates over connections with a seat, the oldest first. */
  [Symbol.iterator](): Iterator<T> {
    return this.#clients.keys()
  }

  take(client: string, connection: T): Seating<T> {
    const { max, maxPerClient } = this.#limits
    const held = this.#byClient.get(client)?.size ?? 0
    if (held >= maxPerClient) return { kind: 'refused', why: 'address' }
    const evicted = this.size >= max ? this.#oldestOfLargest(held) : undefined
    if (this.size >= max && evicted === undefined) return { kind: 'refused', why: 'full' }
    if (evicted !== undefined) this.leave(evicted)
    const seats = this.#byClient.get(client) ?? new Set()
    this.#byClient.set(client, seats.add(connection))
    this.#clients.set(connection, client)
    return { kind: 'seated', ...(evicted !== undefined && { evicted }) }
  }

  /** Does nothing when the connection has no seat. */
  leave(connection: T): void {
    const client = this.#clients.get(connection)
    if (client === undefined) return
    this.#clients.delete(connection)
    const seats = this.#byClient.get(client)
    seats?.delete(connection)
    if (seats?.size === 0) this.#byClient.delete(client)
  }

  #oldestOfLargest(held: number): T | undefined {
    let largest: Set<T> | undefined
    for (const seats of this.#byClient.values()) if (seats.size > Math.max(held + 1, largest?.size ?? 0)) largest = seats
    return largest?.values().next().value
  }
}
