import { compareBytes } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { addressGroup, ownAddresses } from '#lib/peers/inboundLimits'
import type { NodeRecord } from './endpoint.ts'
import type { SignedRecord } from './record.ts'

/** A node of the table. */
export type TableNode = {
  readonly id: string
  readonly node: NodeRecord
  /** hash of the public key */
  readonly place: Uint8Array
  /** when it last answered at its address; undefined: never */
  provenMs: number | undefined
  /** pings without an answer since then */
  failures: number
  /** requests for its record that may still be sent; 0: it was read, or never came */
  recordRequests: number
  /** its newest record, when it is known (v5) */
  record: SignedRecord | undefined
}

const maxNodes = 512
const maxFailures = 3
const maxRecordRequests = 5
/** Most nodes of one IPv4 address or IPv6 network of 64 bits: more names of one machine would fill the table. */
const maxPerAddress = 10

function distance(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] ?? 0))
}

/** Returns the logarithmic distance of two places: the number of bits after their common prefix. */
export function logDistance(a: Uint8Array, b: Uint8Array): number {
  for (const [i, byte] of a.entries()) {
    const bits = byte ^ (b[i] ?? 0)
    if (bits !== 0) return 8 * (a.length - i) - Math.clz32(bits) + 24
  }
  return 0
}

/** Known nodes, bounded. A node that does not answer, else one that never did, makes room for a new one. */
export class NodeTable {
  readonly #nodes = new Map<string, TableNode>()

  get size(): number {
    return this.#proven().length
  }

  get(id: string): TableNode | undefined {
    return this.#nodes.get(id)
  }

  all(): readonly TableNode[] {
    return [...this.#nodes.values()]
  }

  /** Adds a node. @returns undefined when there is no room, or when its address has its share already */
  add(id: string, node: NodeRecord): TableNode | undefined {
    const known = this.#nodes.get(id)
    if (known) return known
    const group = addressGroup(node.ip)
    const same = [...this.#nodes.values()].filter((other) => addressGroup(other.node.ip) === group)
    if (same.length >= maxPerAddress && !ownAddresses.includes(node.ip)) return undefined
    if (this.#nodes.size >= maxNodes) {
      const weakest = [...this.#nodes.values()].find(({ provenMs }) => provenMs === undefined)
      if (weakest === undefined) return undefined
      this.#nodes.delete(weakest.id)
    }
    const added: TableNode = {
      id,
      node,
      place: keccak256(node.publicKey),
      provenMs: undefined,
      failures: 0,
      recordRequests: maxRecordRequests,
      record: undefined,
    }
    this.#nodes.set(id, added)
    return added
  }

  /** Notes that a node has answered at an address. */
  proven(id: string, node: NodeRecord, nowMs: number): void {
    const known = this.#nodes.get(id)
    if (known === undefined) return
    this.#nodes.set(id, { ...known, node, provenMs: nowMs, failures: 0 })
  }

  failed(id: string): void {
    const known = this.#nodes.get(id)
    if (known && ++known.failures >= maxFailures) this.#nodes.delete(id)
  }

  /** Returns the proven nodes nearest to a place, 32 bytes. */
  nearest(target: Uint8Array, count: number): readonly TableNode[] {
    return this.#proven()
      .map((one) => ({ one, far: distance(one.place, target) }))
      .sort((a, b) => compareBytes(a.far, b.far))
      .slice(0, count)
      .map(({ one }) => one)
  }

  /** Returns proven nodes at logarithmic distances from a place. */
  atDistances(distances: readonly number[], from: Uint8Array, count: number): readonly TableNode[] {
    return this.#proven()
      .filter(({ place }) => distances.includes(logDistance(place, from)))
      .slice(0, count)
  }

  #proven(): readonly TableNode[] {
    return [...this.#nodes.values()].filter(({ provenMs }) => provenMs !== undefined)
  }
}
