import type { WantedLogs } from '#types/logMatcher'
import type { ByteWriter } from './byteList.ts'
import { type JsonArrayBuffer, keptList } from './jsonArrayBuffer.ts'
import { type LocatedLog, logText, topicsAt } from './results/log.ts'

/** What is looked for in many blocks. An empty set means any, of a topic also that there is none in its place. */
export type LogTerms = { readonly addresses: ReadonlySet<string>; readonly topics: readonly ReadonlySet<string>[] }

export const logTerms = ({ addresses, topics }: WantedLogs): LogTerms => ({
  addresses: new Set(addresses),
  topics: topics.map((alternatives) => new Set(alternatives)),
})

const comma = 0x2c
const quote = 0x22
const topicLength = 66
/** From one topic to the next. */
const topicStep = topicLength + '","'.length
/** Of an address in the index, beside its logs. */
const addressBytes = 200

type Run = { readonly from: number; readonly to: number }

/** The logs of a block as text: those of an address stand together, for most who look for logs want those of a few addresses. */
export class KeptLogs {
  readonly #text: JsonArrayBuffer
  /** where in the text those of an address stand */
  readonly #runs = new Map<string, Run>()
  /** of each place in the text, which log of the block stands there; and the other way round */
  readonly #indexAt: Uint32Array
  readonly #placeOf: Uint32Array

  /** @param logs all of a block, in order */
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
    this.#text = keptList([...this.#indexAt].flatMap((index) => logs[index] ?? []).map(logText))
  }

  /** memory it takes */
  get sizeBytes(): number {
    return this.#text.sizeBytes + 2 * this.#indexAt.byteLength + addressBytes * this.#runs.size
  }

  /** The places of the logs that match, in the order of the logs. */
  matching({ addresses, topics }: LogTerms): ArrayLike<number> & Iterable<number> {
    const places = this.#ofAddresses(addresses)
    return topics.every(({ size }) => size === 0) ? places : places.filter((place) => this.#hasTopics(place, topics))
  }

  /** Logs with commas between them. */
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

  /** A topic is there when a quote stands where it would begin, and all before it are there. */
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
