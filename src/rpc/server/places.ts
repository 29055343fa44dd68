import type { Socket } from 'node:net'
import { clientNameOf } from '#lib/clientName'

/** An address loses busy connections to another address only when it holds more than one in this many of all places. */
const largeShare = 10
/** One in this many places is reserved for clients that have not sent a token yet. */
const strangersShare = 5

type Holder = { readonly address: string; readonly places: ReadonlySet<Place> }

/**
 * Connection slots of a server. When all are taken, a new connection takes the place of the idlest connection of the address that holds most, so
 * idle connections cannot block others. Authenticated connections lose their place only to other authenticated connections.
 */
export class Places {
  readonly #max: number
  readonly #onEvict: () => void
  readonly #strangers = new Map<string, Set<Place>>()
  readonly #known = new Set<Place>()
  #count = 0
  #uses = 0

  /** @param onEvict called when a connection loses its place */
  constructor(max: number, onEvict: () => void = () => {}) {
    this.#max = max
    this.#onEvict = onEvict
  }

  get count(): number {
    return this.#count
  }

  /**
   * Takes a place for a new connection. The caller disposes of it when the connection has closed.
   * @param end ends the connection at once
   * @returns undefined when no connection can be evicted
   */
  take(address: string, end: () => void): Place | undefined {
    if (this.#count >= this.#max && !this.#evictFor(address)) return undefined
    const place = new Place(this, address, end)
    const own = this.#strangers.get(address)
    if (own) own.add(place)
    else this.#strangers.set(address, new Set([place]))
    this.#count++
    return place
  }

  /** Takes a place for a socket until it closes. Destroys the socket and returns undefined when no connection can be evicted. */
  takeFor(socket: Socket): Place | undefined {
    const place = this.take(clientNameOf(socket.remoteAddress ?? ''), () => socket.destroy())
    if (place === undefined) socket.destroy()
    else socket.once('close', () => place[Symbol.dispose]())
    return place
  }

  /** Called by a place. @returns a sequence number larger than all before */
  nextUse(): number {
    return ++this.#uses
  }

  /** Called by a place whose client has authenticated. */
  know(place: Place): void {
    if (!this.#leaveStrangers(place)) return
    const room = this.#max - Math.ceil(this.#max / strangersShare)
    if (this.#known.size >= room) this.#evict(idlestOf(this.#known))
    this.#known.add(place)
  }

  /** Called by a place whose connection has closed. */
  leave(place: Place): void {
    if (this.#known.delete(place) || this.#leaveStrangers(place)) this.#count--
  }

  #leaveStrangers(place: Place): boolean {
    const own = this.#strangers.get(place.address)
    if (own?.delete(place) !== true) return false
    if (own.size === 0) this.#strangers.delete(place.address)
    return true
  }

  #evictFor(address: string): boolean {
    const own = this.#strangers.get(address) ?? new Set<Place>()
    const { address: of, places } = this.#largest(address, own)
    const fair = this.#max / largeShare
    const idlest = idlestOf(places)
    if (idlest !== undefined && (!idlest.isBusy || (of !== address && places.size > fair))) return this.#evict(idlest)
    return own.size <= fair && this.#evict(idlestOf(this.#allStrangers(), 'idle'))
  }

  /** The address that would hold most places if the new connection got one. */
  #largest(address: string, own: ReadonlySet<Place>): Holder {
    let largest: Holder = { address, places: own }
    let size = own.size + 1
    for (const [of, places] of this.#strangers) {
      if (places.size <= size) continue
      size = places.size
      largest = { address: of, places }
    }
    return largest
  }

  *#allStrangers(): Iterable<Place> {
    for (const places of this.#strangers.values()) yield* places
  }

  #evict(place: Place | undefined): boolean {
    if (place === undefined) return false
    this.leave(place)
    this.#onEvict()
    place.end()
    return true
  }
}

/** The place with the oldest use. Idle places come first; with `idle`, busy ones are never returned. */
function idlestOf(places: Iterable<Place>, wanted: 'idle' | 'any' = 'any'): Place | undefined {
  let idlest: Place | undefined
  for (const place of places) {
    if (place.isBusy && wanted === 'idle') continue
    const isIdler = idlest === undefined || (place.isBusy === idlest.isBusy ? place.usedAt < idlest.usedAt : idlest.isBusy)
    if (isIdler) idlest = place
  }
  return idlest
}

/** The place of one connection. Dispose of it when the connection has closed. */
export class Place implements Disposable {
  readonly address: string
  readonly #places: Places
  readonly #end: () => void
  #running = 0
  #usedAt: number

  constructor(places: Places, address: string, end: () => void) {
    this.address = address
    this.#places = places
    this.#end = end
    this.#usedAt = places.nextUse()
  }

  /** Sequence number of the client's last whole request; it grows over the requests of all clients. */
  get usedAt(): number {
    return this.#usedAt
  }

  /** Whether a call or a subscription of the connection runs. */
  get isBusy(): boolean {
    return this.#running > 0
  }

  /** A whole request has arrived. */
  use(): void {
    this.#usedAt = this.#places.nextUse()
  }

  /** A call or a subscription begins; `finish` ends it. */
  begin(): void {
    this.#running++
    this.use()
  }

  finish(): void {
    this.#running--
  }

  /** Marks the client as authenticated. */
  know(): void {
    this.#places.know(this)
  }

  /** Ends the connection: another connection takes the place. */
  end(): void {
    this.#end()
  }

  [Symbol.dispose](): void {
    this.#places.leave(this)
  }
}
