import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { clientNameOf } from '#lib/clientName'
import type { Clock } from '#lib/clock'
import type { PublisherMetrics } from './metrics.ts'
import { Seats } from './seats.ts'

export type SubscribersDeps = { readonly clock: Clock; readonly metrics: PublisherMetrics }

/** WebSocket close code "try again later" */
const tooMany = 1013
/** Between two pings of a subscriber; a ping without a pong by the next ping ends the connection. */
const pingMs = 15_000
/** From a connection to its handshake, and from a refusal to the end of the connection. */
const handshakeMs = 5_000
/** Limits of connections that have no handshake yet or are refused. */
const arriving = { max: 128, maxPerClient: 32 } as const
/** Unread bytes of a subscriber above which its pings are not answered. */
const maxUnreadForPong = 65_536

/**
 * Subscribers of a publisher, and connections that may become one; each has a seat. Ends connections without a handshake and subscribers
 * without a pong.
 */
export class Subscribers implements Disposable {
  readonly #deps: SubscribersDeps
  readonly #arriving = new Seats<Socket>(arriving)
  readonly #deadlines = new Map<Socket, Disposable>()
  readonly #seated: Seats<WebSocket>
  /** subscribers that answered since the last ping */
  readonly #alive = new Set<WebSocket>()
  #pinging: Disposable | undefined

  constructor(deps: SubscribersDeps, maxClients: number) {
    this.#deps = deps
    this.#seated = new Seats({ max: maxClients, maxPerClient: Math.ceil(maxClients / 2) })
    this.#ping()
  }

  /** Called for each accepted TCP connection. */
  arrive(socket: Socket): void {
    const { metrics } = this.#deps
    const seating = this.#arriving.take(clientNameOf(socket.remoteAddress ?? ''), socket)
    if (seating.kind === 'refused') {
      metrics.dropped.inc({ reason: seating.why })
      socket.destroy()
      return
    }
    if (seating.evicted) metrics.dropped.inc({ reason: 'evicted' })
    seating.evicted?.destroy()
    this.#expectEnd(socket, () => metrics.dropped.inc({ reason: 'handshake' }))
    socket.once('close', () => this.#leave(socket))
  }

  /** @returns false when the subscriber is refused; its connection ends within `handshakeMs` */
  admit(client: WebSocket, socket: Socket): boolean {
    const { metrics } = this.#deps
    client.on('error', () => {}) // the close event follows
    const seating = this.#seated.take(clientNameOf(socket.remoteAddress ?? ''), client)
    if (seating.kind === 'refused') {
      metrics.dropped.inc({ reason: seating.why })
      this.#expectEnd(socket)
      client.close(tooMany, 'too many connections')
      return false
    }
    this.#leave(socket)
    if (seating.evicted) metrics.dropped.inc({ reason: 'evicted' })
    seating.evicted?.terminate()
    this.#watch(client)
    return true
  }

  [Symbol.iterator](): Iterator<WebSocket> {
    return this.#seated[Symbol.iterator]()
  }

  [Symbol.dispose](): void {
    this.#pinging?.[Symbol.dispose]()
    for (const client of this.#seated) client.terminate()
    for (const socket of this.#deadlines.keys()) socket.destroy()
  }

  #watch(client: WebSocket): void {
    const { metrics } = this.#deps
    this.#alive.add(client)
    metrics.clients.set({}, this.#seated.size)
    client.on('pong', () => this.#alive.add(client))
    client.on('ping', (data) => {
      if (client.bufferedAmount <= maxUnreadForPong) client.pong(data)
    })
    client.once('close', () => {
      this.#alive.delete(client)
      this.#seated.leave(client)
      metrics.clients.set({}, this.#seated.size)
    })
  }

  #expectEnd(socket: Socket, onLate?: () => void): void {
    this.#deadlines.get(socket)?.[Symbol.dispose]()
    const deadline = this.#deps.clock.after(handshakeMs, () => {
      onLate?.()
      socket.destroy()
    })
    this.#deadlines.set(socket, deadline)
  }

  #leave(socket: Socket): void {
    this.#arriving.leave(socket)
    this.#deadlines.get(socket)?.[Symbol.dispose]()
    this.#deadlines.delete(socket)
  }

  #ping(): void {
    const { clock, metrics } = this.#deps
    for (const client of this.#seated) {
      if (this.#alive.delete(client)) client.ping()
      else {
        metrics.dropped.inc({ reason: 'no-pong' })
        client.terminate()
      }
    }
    this.#pinging = clock.after(pingMs, () => this.#ping())
  }
}
