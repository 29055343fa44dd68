import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock } from '#lib/clock'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { addressGroup, ownAddresses } from '#lib/peers/inboundLimits'
import { RateLimit } from '#lib/peers/rateLimit'
import type { Endpoint } from './endpoint.ts'

/** IP address and UDP port. */
export type UdpAddress = Pick<Endpoint, 'ip' | 'udpPort'>

const maxAddresses = 1_024
/** Packets a second of all, and of one address: each may cost a recovered key. */
const limits = { all: { perSec: 300, burst: 600 }, one: { perSec: 30, burst: 60 } }

/** Takes a token when one is there now. */
function isTaken(bucket: RateLimit): boolean {
  if (bucket.take() === 0) return true
  bucket.giveBack()
  return false
}

/** The UDP port that both versions of discovery share. Packets above the limits are dropped. */
export class DiscoverySocket {
  readonly #deps: { readonly clock: Clock; readonly log: Log }
  readonly #socket: Socket
  readonly #all: RateLimit
  readonly #byAddress = new Map<string, RateLimit>()
  #isClosed = false

  private constructor(deps: { readonly clock: Clock; readonly log: Log }, host: string) {
    this.#deps = deps
    this.#all = new RateLimit(deps.clock, limits.all.perSec, limits.all.burst)
    this.#socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', recvBufferSize: 2 ** 18 })
  }

  /** Binds a port; 0: any free one. @throws Error of the socket */
  static async bind(deps: { readonly clock: Clock; readonly log: Log }, host: string, port: number): Promise<DiscoverySocket> {
    const bound = new DiscoverySocket(deps, host)
    const socket = bound.#socket
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.bind({ address: host, port, exclusive: true }, () => resolve())
      })
    } catch (error) {
      socket.close()
      throw error
    }
    socket.on('error', (error) => deps.log.debug('socket of discovery failed', { error }))
    return bound
  }

  get port(): number {
    return this.#socket.address().port
  }

  /** Passes packets to a reader. Its error says why a packet was not understood. */
  onPacket(read: (packet: Uint8Array, from: UdpAddress) => void): void {
    this.#socket.on('message', (packet: Uint8Array, { address, port }: RemoteInfo) => {
      if (!this.#isAllowed(address)) return
      try {
        read(packet, { ip: address, udpPort: port })
      } catch (error) {
        this.#deps.log.debug('packet of discovery not understood', { from: address, reason: errorMessage(error) })
      }
    })
  }

  send(packet: Uint8Array, { ip, udpPort }: UdpAddress): void {
    if (!this.#isClosed && udpPort > 0) this.#socket.send(packet, udpPort, ip, () => {})
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  /** Packets that their address may not send leave the limit of all to other addresses. */
  #isAllowed(ip: string): boolean {
    if (ownAddresses.includes(ip)) return isTaken(this.#all)
    const one = this.#bucketOf(addressGroup(ip))
    if (one === undefined || !isTaken(one)) return false
    if (isTaken(this.#all)) return true
    one.giveBack()
    return false
  }

  /** Returns the limit of an address; undefined: too many addresses send. */
  #bucketOf(group: string): RateLimit | undefined {
    const known = this.#byAddress.get(group)
    if (known) return known
    if (this.#byAddress.size >= maxAddresses) for (const [other, limit] of this.#byAddress) if (limit.isFull) this.#byAddress.delete(other)
    if (this.#byAddress.size >= maxAddresses) return undefined
    const added = new RateLimit(this.#deps.clock, limits.one.perSec, limits.one.burst)
    this.#byAddress.set(group, added)
    return added
  }
}
