import type { WantedLogs } from '#types/logMatcher'
import type { ByteWriter } from '../results/byteList.ts'
import { type LocatedLog, logText, topicsAt } from '../results/log.ts'
import { type JsonArrayBuffer, keptList } from './jsonArrayBuffer.ts'

/** Addresses and topics to match in many blocks. An empty set matches everything; for a topic also its absence. */
export type LogTerms = { readonly addresses: ReadonlySet<string>; readonly topics: readonly ReadonlySet<string>[] }

export const logTerms = ({ addresses, topics }: WantedLogs): LogTerms => ({
  addresses: new Set(addresses),
  topics: topics.map((alternatives) => new Set(alternatives)),
})

const comma = 0x2c
const quote = 0x22
const topicLength = 66
/** Distance between two topics in the text of a log. */
const topicStep = topicLength + '","'.length
/** Memory of an address in the index, without its logs. */
const addressBytes = 200

type Run = { readonly from: number; readonly to: number }

/** The logs of a block as JSON, grouped by address, because most queries name few addresses. */
export class KeptLogs {
  readonly #text: JsonArrayBuffer
  /** range in the text of each address's logs */
  readonly #runs = new Map<string, Run>()
  /** maps a position in the text to the log index, and back */
  readonly #indexAt: Uint32Array
  readonly #placeOf: Uint32Array

  /** @param logs all logs of a block, in order */
  constructor(logs: readonly LocatedLog[]) {
    const byAddress = Map.groupBy(logs.keys(), (index) => logs[index]?.log.address ?? '')
    this.#indexAt = Uint32Array.from([...byAddress.values()].flat())
    this.#placeOf = new Uint32Array(logs.length)
    for (const [place, index] of this.#indexAt.entries()) this.#placeOf[index] = place
    let from = 0
    for (const [address, { length }] of byAddress) {
      this.#runs.set(address, { from, to: from + length })
      from += length
    }
    this.#text = keptList(logs.length, (place) => logText(logs[this.#indexAt[place] ?? 0] as LocatedLog))
  }

  get sizeBytes(): number {
    return this.#text.sizeBytes + 2 * this.#indexAt.byteLength + addressBytes * this.#runs.size
  }

  /** Positions of the matching logs, in the order of the logs. */
  matching({ addresses, topics }: LogTerms): ArrayLike<number> & Iterable<number> {
    const places = this.#ofAddresses(addresses)
    return topics.every(({ size }) => size === 0) ? places : places.filter((place) => this.#hasTopics(place, topics))
  }

  /** Writes logs with commas between them. */
  writeTo(writer: ByteWriter, places: ArrayLike<number>): void {
    for (let at = 0; at < places.length; ) {
      if (at > 0) writer.byte(comma)
      const first = places[at] ?? 0
      let count = 1
      while (places[at + count] === first + count) count++
      writer.bytes(this.#text.bytes, this.#text.start(first), this.#text.end(first + count - 1))
      at += count
    }
  }

  #ofAddresses(addresses: ReadonlySet<string>): Uint32Array {
    if (addresses.size === 0) return this.#placeOf
    const runs = [...addresses].flatMap((address) => this.#runs.get(address) ?? [])
    const places = new Uint32Array(runs.reduce((sum, { from, to }) => sum + to - from, 0))
    let at = 0
    for (const { from, to } of runs) for (let place = from; place < to; place++) places[at++] = place
    return runs.length < 2 ? places : places.sort((a, b) => (this.#indexAt[a] ?? 0) - (this.#indexAt[b] ?? 0))
  }

  /** Whether the topics match. A topic exists when its opening quote is at the expected offset and all topics before it exist. */
  #hasTopics(place: number, topics: LogTerms['topics']): boolean {
    const { bytes } = this.#text
    let at = this.#text.start(place) + topicsAt
    let isThere = true
    for (const wanted of topics) {
      isThere &&= bytes[at] === quote
      if (wanted.size > 0 && !(isThere && wanted.has(bytes.toString('latin1', at + 1, at + 1 + topicLength)))) return false
      at += topicStep
    }
    return true
  }
}
