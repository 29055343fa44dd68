import { BlockList, isIP, SocketAddress } from 'node:net'
import type { ConnectionGater, MultiaddrConnection, PeerId } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Clock } from '#lib/clock'
import type { DenyKind } from '#types/peer'

/** Entries of each kind that an operator can add, and bans. */
const maxEntries = 10_000

/** Returns the IP address of a multiaddr; undefined: it has a name, or is of another family. */
export function ipOf(address: Multiaddr): string | undefined {
  const part = address.getComponents().find(({ name }) => name === 'ip4' || name === 'ip6')
  return part?.value
}

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 6 ? 'ipv6' : 'ipv4')

/** Returns the canonical text of an IP address; an IPv4 address within IPv6 is that IPv4 address. @throws RangeError on text that is no address */
function canonicalIp(ip: string): string {
  if (isIP(ip) === 0) throw new RangeError(`invalid IP address: ${ip}`)
  const { address } = new SocketAddress({ address: ip, family: familyOf(ip) })
  return /^::ffff:(?=.*\.)/.test(address) ? address.slice(7) : address
}

/** Returns the canonical text of an entry. @throws Error on text that is no such entry */
function canonicalOf(kind: DenyKind, what: string): string {
  if (kind === 'peer') return peerIdFromString(what).toString()
  if (kind === 'address') return canonicalIp(what)
  const { ip, bits } = subnetOf(what)
  return `${ip}/${bits}`
}

/** Peers, addresses and subnets with which there are no connections, in both directions. Bans expire; an operator's entries do not. */
export class DenyList {
  readonly #clock: Clock
  readonly #entries: Readonly<Record<DenyKind, Set<string>>> = { peer: new Set(), address: new Set(), subnet: new Set() }
  /** peer id → `elapsedMs` at which the ban ends */
  readonly #bans = new Map<string, number>()
  #subnets = new BlockList()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws Error on text that is no peer id, IP address or subnet; RangeError on a full list */
  set(kind: DenyKind, text: string, isDenied: boolean): void {
    const what = canonicalOf(kind, text)
    const entries = this.#entries[kind]
    if (isDenied && entries.size >= maxEntries) throw new RangeError(`more than ${maxEntries} entries`)
    if (isDenied) entries.add(what)
    else entries.delete(what)
    if (kind === 'peer' && !isDenied) this.#bans.delete(what)
    if (kind === 'subnet') this.#rebuild()
  }

  entries(kind: DenyKind): readonly string[] {
    return [...this.#entries[kind]]
  }

  ban(peer: string, durationMs: number): void {
    this.#expire()
    if (this.#bans.size < maxEntries) this.#bans.set(peer, this.#clock.elapsedMs() + durationMs)
  }

  /** Returns the peers that are denied: by the operator or by a ban. */
  deniedPeers(): readonly string[] {
    this.#expire()
    return [...new Set([...this.#entries.peer, ...this.#bans.keys()])]
  }

  deniesPeer(peer: string): boolean {
    const until = this.#bans.get(peer)
    return this.#entries.peer.has(peer) || (until !== undefined && until > this.#clock.elapsedMs())
  }

  deniesAddress(ip: string | undefined): boolean {
    if (ip === undefined || isIP(ip) === 0) return false
    return this.#entries.address.has(canonicalIp(ip)) || this.#subnets.check(ip, familyOf(ip))
  }

  /** Returns the gater for libp2p, which asks at every step of a connection in both directions. */
  gater(): ConnectionGater {
    const deniesPeer = (peer: PeerId): boolean => this.deniesPeer(peer.toString())
    const deniesConnection = ({ remoteAddr }: Pick<MultiaddrConnection, 'remoteAddr'>): boolean => this.deniesAddress(ipOf(remoteAddr))
    return {
      denyDialPeer: deniesPeer,
      denyDialMultiaddr: (address): boolean => this.deniesAddress(ipOf(address)),
      denyInboundConnection: deniesConnection,
      denyInboundEncryptedConnection: deniesPeer,
      denyOutboundEncryptedConnection: deniesPeer,
    }
  }

  #expire(): void {
    const now = this.#clock.elapsedMs()
    for (const [peer, until] of this.#bans) if (until <= now) this.#bans.delete(peer)
  }

  #rebuild(): void {
    this.#subnets = new BlockList()
    for (const text of this.#entries.subnet) {
      const { ip, bits } = subnetOf(text)
      this.#subnets.addSubnet(ip, bits, familyOf(ip))
    }
  }
}

/** @throws RangeError unless the text is ADDRESS/BITS */
function subnetOf(text: string): { readonly ip: string; readonly bits: number } {
  const [ip = '', bitsText = '', ...rest] = text.split('/')
  const family = isIP(ip)
  const bits = /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : -1
  if (family === 0 || rest.length > 0 || bits < 0 || bits > (family === 4 ? 32 : 128)) throw new RangeError(`invalid subnet: ${text}`)
  return { ip: new SocketAddress({ address: ip, family: familyOf(ip) }).address, bits }
}
