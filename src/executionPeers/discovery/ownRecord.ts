import type { ForkId } from '#chainspec/forkId'
import { addressGroup, ownAddresses } from '#lib/peers/inboundLimits'
import { createRecord, type NodeRecordText } from './record.ts'
import type { UdpAddress } from './socket.ts'

/** Votes for this node's own address that are needed, and kept. */
const [votesNeeded, maxVotes] = [4, 64]

export type OwnRecordFacts = {
  readonly privateKey: Uint8Array
  readonly tcpPort: number
  readonly udpPort: number
  /** absent: the address that most nodes report, at least four */
  readonly advertisedHost?: string | undefined
  readonly forkId: () => ForkId
}

/** The record of this node. It is made again when the address or the fork changes. */
export class OwnRecord {
  readonly #facts: OwnRecordFacts
  /** reported addresses by the address of the node: each has one vote, whatever its names and versions */
  readonly #votes = new Map<string, string>()
  #host: string | undefined
  #sequence: number
  #made: NodeRecordText | undefined
  #madeOf = ''

  /** @param nowMs since 1970: the sequence grows with each start, as nodes keep the record with the highest one */
  constructor(facts: OwnRecordFacts, nowMs: number) {
    this.#facts = facts
    this.#host = facts.advertisedHost
    this.#sequence = Math.floor(nowMs)
  }

  /** Address under which this node is known; undefined: not known yet. */
  get host(): string | undefined {
    return this.#host
  }

  get tcpPort(): number {
    return this.#facts.tcpPort
  }

  get current(): NodeRecordText {
    const { privateKey, tcpPort, udpPort, forkId } = this.#facts
    const facts = { host: this.#host, tcpPort, udpPort, forkId: forkId() }
    const of = JSON.stringify(facts)
    if (this.#made === undefined || of !== this.#madeOf) {
      this.#made = createRecord(privateKey, { ...facts, sequence: ++this.#sequence })
      this.#madeOf = of
    }
    return this.#made
  }

  /** Counts an address that another node reports for this one. */
  vote(from: UdpAddress, ip: string): void {
    if (this.#facts.advertisedHost !== undefined || ip === '' || ip === '0.0.0.0') return
    const voter = ownAddresses.includes(from.ip) ? `${from.ip} ${from.udpPort}` : addressGroup(from.ip)
    this.#votes.delete(voter)
    this.#votes.set(voter, ip)
    for (const [oldest] of this.#votes) {
      if (this.#votes.size <= maxVotes) break
      this.#votes.delete(oldest)
    }
    const counts = new Map<string, number>()
    for (const one of this.#votes.values()) counts.set(one, (counts.get(one) ?? 0) + 1)
    const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
    if (first && first[1] >= votesNeeded && first[1] > (second?.[1] ?? 0)) this.#host = first[0]
  }
}
