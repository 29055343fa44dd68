import type { ForkId } from '#chainspec/forkId'
import { createRecord, type NodeRecordText } from './record.ts'

/** Votes for this node's own address that are needed, and kept. */
const [votesNeeded, maxVotes] = [4, 64]

export type OwnRecordFacts = {
  readonly privateKey: Uint8Array
  readonly tcpPort: number
  readonly udpPort: number
  /** absent: the address that four nodes report */
  readonly advertisedHost?: string | undefined
  readonly forkId: () => ForkId
}

/** The record of this node. It is made again when the address or the fork changes. */
export class OwnRecord {
  readonly #facts: OwnRecordFacts
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
  vote(id: string, ip: string): void {
    if (this.#facts.advertisedHost !== undefined || ip === '' || ip === '0.0.0.0') return
    this.#votes.set(id, ip)
    for (const [oldest] of this.#votes) {
      if (this.#votes.size <= maxVotes) break
      this.#votes.delete(oldest)
    }
    const same = [...this.#votes.values()].filter((other) => other === ip)
    if (same.length >= votesNeeded) this.#host = ip
  }
}
