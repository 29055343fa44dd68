import { z } from 'zod'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { readPeersFile, writePeersFile } from '#lib/peers/peersFile'

/** A peer that was reached once, or that discovery found. */
export type KnownPeer = {
  readonly peerId: string
  /** multiaddr with the peer id */
  readonly address: string
  readonly enr?: string | undefined
  /** milliseconds since 1970 of the last connection; 0: never connected */
  readonly seenMs: number
}

const maxPeers = 2_048
const fileSchema = z.array(
  z.object({ peerId: z.string().max(128), address: z.string().max(512), enr: z.string().max(1_024).optional(), seenMs: z.number() }),
)

const parsePeers = (json: unknown): readonly KnownPeer[] => fileSchema.parse(json).slice(0, maxPeers)

/** Known peers, oldest first. At the bound the peer that was seen longest ago is forgotten. The file is a cache: a damaged one is ignored. */
export class PeerBook {
  readonly #deps: { readonly clock: Clock; readonly log: Log }
  readonly #file: string | undefined
  readonly #peers = new Map<string, KnownPeer>()
  #isChanged = false

  constructor(deps: { readonly clock: Clock; readonly log: Log }, file: string | undefined) {
    this.#deps = deps
    this.#file = file
    if (file !== undefined) for (const peer of readPeersFile(file, deps.log, parsePeers) ?? []) this.#peers.set(peer.peerId, peer)
  }

  get size(): number {
    return this.#peers.size
  }

  /** Returns the known peers, the one seen last first. */
  all(): readonly KnownPeer[] {
    return [...this.#peers.values()].sort((a, b) => b.seenMs - a.seenMs)
  }

  get(peerId: string): KnownPeer | undefined {
    return this.#peers.get(peerId)
  }

  /** Adds a peer, or replaces its address. */
  found(peerId: string, address: string, enr?: string): void {
    const known = this.#peers.get(peerId)
    this.#put({ peerId, address, enr: enr ?? known?.enr, seenMs: known?.seenMs ?? 0 })
  }

  /** Notes a connection. */
  connected(peerId: string): void {
    const known = this.#peers.get(peerId)
    if (known) this.#put({ ...known, seenMs: this.#deps.clock.nowMs() })
  }

  /** Writes the file when something has changed. */
  save(): void {
    if (this.#file === undefined || !this.#isChanged) return
    if (writePeersFile(this.#file, this.#deps.log, [...this.#peers.values()])) this.#isChanged = false
  }

  #put(peer: KnownPeer): void {
    this.#isChanged = true
    this.#peers.set(peer.peerId, peer)
    if (this.#peers.size <= maxPeers) return
    let oldest = peer
    // of equal ones the last: a flood of records does not replace the peers that were found before it
    for (const other of this.#peers.values()) if (other !== peer && other.seenMs <= oldest.seenMs) oldest = other
    this.#peers.delete(oldest.peerId)
  }
}
