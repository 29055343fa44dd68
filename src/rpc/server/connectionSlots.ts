import type { Socket } from 'node:net'
import { clientNameOf } from '#lib/clientName'

/** An address loses busy connections to another address only when it holds more than one in this many of all slots. */
const largeShare = 10
/** One in this many slots is reserved for clients that have not sent a token yet. */
const strangersShare = 5

type Holder = { readonly address: string; readonly slots: ReadonlySet<ConnectionSlot> }

/**
 * Connection slots of a server. When all are taken, a new connection takes the slot of the idlest connection of the address that holds most, so
 * idle connections cannot block others. Authenticated connections lose their slot only to other authenticated connections.
 */
export class ConnectionSlots {
  readonly #max: number
  readonly #onEvict: () => void
  readonly #strangers = new Map<string, Set<ConnectionSlot>>()
  readonly #known = new Set<ConnectionSlot>()
  #count = 0
  #uses = 0

  /** @param onEvict called when a connection loses its slot */
  constructor(max: number, onEvict: () => void = () => {}) {
    this.#max = max
    this.#onEvict = onEvict
  }

  get count(): number {
    return this.#count
  }

  /**
   * Takes a slot for a new connection. The caller disposes of it when the connection has closed.
   * @param end ends the connection at once
   * @returns undefined when no connection can be evicted
   */
  take(address: string, end: () => void): ConnectionSlot | undefined {
    if (this.#count >= this.#max && !this.#evictFor(address)) return undefined
    const slot = new ConnectionSlot(this, address, end)
    const own = this.#strangers.get(address)
    if (own) own.add(slot)
    else this.#strangers.set(address, new Set([slot]))
    this.#count++
    return slot
  }

  /** Takes a slot for a socket until it closes. Destroys the socket and returns undefined when no connection can be evicted. */
  takeFor(socket: Socket): ConnectionSlot | undefined {
    const slot = this.take(clientNameOf(socket.remoteAddress ?? ''), () => socket.destroy())
    if (slot === undefined) socket.destroy()
    else socket.once('close', () => slot[Symbol.dispose]())
    return slot
  }

  /** Called by a slot. @returns a sequence number larger than all before */
  nextUse(): number {
    return ++this.#uses
  }

  /** Called by a slot whose client has authenticated. */
  know(slot: ConnectionSlot): void {
    if (!this.#leaveStrangers(slot)) return
    const room = this.#max - Math.ceil(this.#max / strangersShare)
    if (this.#known.size >= room) this.#evict(idlestOf(this.#known))
    this.#known.add(slot)
  }

  /** Called by a slot whose connection has closed. */
  leave(slot: ConnectionSlot): void {
    if (this.#known.delete(slot) || this.#leaveStrangers(slot)) this.#count--
  }

  #leaveStrangers(slot: ConnectionSlot): boolean {
    const own = this.#strangers.get(slot.address)
    if (own?.delete(slot) !== true) return false
    if (own.size === 0) this.#strangers.delete(slot.address)
    return true
  }

  #evictFor(address: string): boolean {
    const own = this.#strangers.get(address) ?? new Set<ConnectionSlot>()
    const { address: of, slots } = this.#largest(address, own)
    const fair = this.#max / largeShare
    const idlest = idlestOf(slots)
    if (idlest !== undefined && (!idlest.isBusy || (of !== address && slots.size > fair))) return this.#evict(idlest)
    return own.size <= fair && this.#evict(idlestOf(this.#allStrangers(), 'idle'))
  }

  /** The address that would hold most slots if the new connection got one. */
  #largest(address: string, own: ReadonlySet<ConnectionSlot>): Holder {
    let largest: Holder = { address, slots: own }
    let size = own.size + 1
    for (const [of, slots] of this.#strangers) {
      if (slots.size <= size) continue
      size = slots.size
      largest = { address: of, slots }
    }
    return largest
  }

  *#allStrangers(): Iterable<ConnectionSlot> {
    for (const slots of this.#strangers.values()) yield* slots
  }

  #evict(slot: ConnectionSlot | undefined): boolean {
    if (slot === undefined) return false
    this.leave(slot)
    this.#onEvict()
    slot.end()
    return true
  }
}

/** The slot with the oldest use. Idle slots come first; with `idle`, busy ones are never returned. */
function idlestOf(slots: Iterable<ConnectionSlot>, wanted: 'idle' | 'any' = 'any'): ConnectionSlot | undefined {
  let idlest: ConnectionSlot | undefined
  for (const slot of slots) {
    if (slot.isBusy && wanted === 'idle') continue
    const isIdler = idlest === undefined || (slot.isBusy === idlest.isBusy ? slot.usedAt < idlest.usedAt : idlest.isBusy)
    if (isIdler) idlest = slot
  }
  return idlest
}

/** The slot of one connection. Dispose of it when the connection has closed. */
export class ConnectionSlot implements Disposable {
  readonly address: string
  readonly #slots: ConnectionSlots
  readonly #end: () => void
  #running = 0
  #usedAt: number

  constructor(slots: ConnectionSlots, address: string, end: () => void) {
    this.address = address
    this.#slots = slots
    this.#end = end
    this.#usedAt = slots.nextUse()
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
    this.#usedAt = this.#slots.nextUse()
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
    this.#slots.know(this)
  }

  /** Ends the connection: another connection takes the slot. */
  end(): void {
    this.#end()
  }

  [Symbol.dispose](): void {
    this.#slots.leave(this)
  }
}
