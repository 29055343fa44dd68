import type { WantedLogs } from '#types/logMatcher'
import type { ByteWriter } from './byteList.ts'
import type { KeptText } from './keptText.ts'
import { topicsAt } from './results/log.ts'

/** What is looked for in many blocks. An empty set means any, of a topic also that there is none in its place. */
export type LogTerms = { readonly addresses: ReadonlySet<string>; readonly topics: readonly ReadonlySet<string>[] }

export const logTerms = ({ addresses, topics }: WantedLogs): LogTerms => ({
  addresses: new Set(addresses),
  topics: topics.map((alternatives) => new Set(alternatives)),
})

const addressAt = '{"address":"'.length
const addressLength = 42
const topicLength = 66
/** From one topic to the next. */
const topicStep = topicLength + '","'.length
const quote = 0x22
/** Of an entry of an index, beside its numbers. */
const entryBytes = 200

/** The logs of a block: the text of each, and those of each address. */
export class KeptLogs {
  readonly #text: KeptText
  readonly #byAddress = new Map<string, number[]>()

  /** @param text in which each log stands, in the order of their indexes */
  constructor(text: KeptText) {
    this.#text = text
    for (let index = 0; index < text.count; index++) {
      const at = text.start(index) + addressAt
      const address = text.bytes.toString('latin1', at, at + addressLength)
      const same = this.#byAddress.get(address)
      if (same) same.push(index)
      else this.#byAddress.set(address, [index])
    }
  }

  /** memory it takes beside the text */
  get sizeBytes(): number {
    return 8 * this.#text.count + entryBytes * this.#byAddress.size
  }

  /** Indexes of the logs that match, rising. */
  matching({ addresses, topics }: LogTerms): readonly number[] {
    const candidates = this.#ofAddresses(addresses)
    if (topics.every(({ size }) => size === 0)) return candidates
    return candidates.filter((index) => this.#hasTopics(index, topics))
  }

  writeTo(writer: ByteWriter, index: number): void {
    this.#text.writeTo(writer, index)
  }

  #ofAddresses(addresses: ReadonlySet<string>): readonly number[] {
    if (addresses.size === 0) return Array.from({ length: this.#text.count }, (_, index) => index)
    const lists = [...addresses].flatMap((address) => this.#byAddress.get(address) ?? [])
    return addresses.size === 1 ? lists : lists.sort((a, b) => a - b)
  }

  /** A topic is there when a quote stands where it would begin, and all before it are there. */
  #hasTopics(index: number, topics: LogTerms['topics']): boolean {
    const { bytes } = this.#text
    let at = this.#text.start(index) + topicsAt
    let isThere = true
    for (const wanted of topics) {
      isThere &&= bytes[at] === quote
      if (wanted.size > 0 && !(isThere && wanted.has(bytes.toString('latin1', at + 1, at + 1 + topicLength)))) return false
      at += topicStep
    }
    return true
  }
}
