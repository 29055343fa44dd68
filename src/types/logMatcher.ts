import { fromHex, hexAt } from '#lib/hex'
import { rlpHead } from '#lib/rlp'
import type { Address, Hash } from './ids.ts'
import { bloomBits, bloomHas, type Log } from './log.ts'

/** What logs are looked for; an empty list of alternatives matches everything. */
export type WantedLogs = { readonly addresses: readonly Address[]; readonly topics: readonly (readonly Hash[])[] }

/** Values one of which has to stand at a place; none: any. */
class Alternatives {
  readonly #values: ReadonlySet<string>
  /** when there is one only: most often so, and quicker to compare */
  readonly #only: Uint8Array | undefined

  constructor(values: readonly string[]) {
    this.#values = new Set(values)
    const [first] = values
    this.#only = first !== undefined && this.#values.size === 1 ? fromHex(first) : undefined
  }

  get isAny(): boolean {
    return this.#values.size === 0
  }

  has(value: string): boolean {
    return this.isAny || this.#values.has(value)
  }

  /** Whether one stands in the bytes. @param size of each */
  hasAt(bytes: Uint8Array, from: number, size: number): boolean {
    if (this.isAny) return true
    const only = this.#only
    if (only === undefined) return this.#values.has(hexAt(bytes, from, size))
    for (let i = 0; i < size; i++) if (bytes[from + i] !== only[i]) return false
    return true
  }
}

const addressBytes = 20
const topicBytes = 32

/** A log whose encoding is our own: every address has one byte before it, as has every topic. @param from where its fields begin */
function logAt(bytes: Uint8Array, from: number): Log {
  const list = rlpHead(bytes, from + 1 + addressBytes)
  const topics: Hash[] = []
  for (let at = list.from; at < list.to; at += 1 + topicBytes) topics.push(hexAt(bytes, at + 1, topicBytes) as Hash)
  const data = rlpHead(bytes, list.to)
  return { address: hexAt(bytes, from + 1, addressBytes) as Address, topics, data: bytes.slice(data.from, data.to) }
}

/**
 * Tests a filter on blooms, on logs, and on encoded ones. Hashes the filter's values once.
 * An empty list of alternatives matches anything, also a topic that the log does not have.
 * @see execution-apis, eth_getLogs: "topics"
 */
export class LogMatcher {
  readonly #bits: readonly (readonly (readonly number[])[])[]
  readonly #addresses: Alternatives
  readonly #topics: readonly Alternatives[]

  constructor({ addresses, topics }: WantedLogs) {
    const groups: readonly (readonly string[])[] = [addresses, ...topics].filter((values) => values.length > 0)
    this.#bits = groups.map((values) => values.map((value) => bloomBits(fromHex(value))))
    this.#addresses = new Alternatives(addresses)
    this.#topics = topics.map((values) => new Alternatives(values))
  }

  mayBeIn(bloom: Uint8Array): boolean {
    return this.#bits.every((alternatives) => alternatives.some((each) => bloomHas(bloom, each)))
  }

  matches(log: Log): boolean {
    return this.#addresses.has(log.address) && this.#topics.every((values, index) => values.has(log.topics[index] ?? ''))
  }

  /**
   * The logs that match in an encoded receipt, of which no others are decoded, with their places among its logs.
   * @param receipt as `encodeReceipt` has made it; the logs hold bytes of their own
   */
  decodeFrom(receipt: Uint8Array): { readonly log: Log; readonly at: number }[] {
    let from = rlpHead(receipt, (receipt[0] ?? 0) < 0x80 ? 1 : 0).from
    for (let field = 0; field < 3; field++) from = rlpHead(receipt, from).to
    const list = rlpHead(receipt, from)
    const found: { log: Log; at: number }[] = []
    for (let at = 0, next = list.from; next < list.to; at++) {
      const head = rlpHead(receipt, next)
      if (this.#matchesAt(receipt, head.from)) found.push({ log: logAt(receipt, head.from), at })
      next = head.to
    }
    return found
  }

  /** @param from where the fields of an encoded log begin */
  #matchesAt(bytes: Uint8Array, from: number): boolean {
    if (!this.#addresses.hasAt(bytes, from + 1, addressBytes)) return false
    const topics = rlpHead(bytes, from + 1 + addressBytes)
    return this.#topics.every((values, index) => {
      const at = topics.from + index * (1 + topicBytes)
      return values.isAny || (at < topics.to && values.hasAt(bytes, at + 1, topicBytes))
    })
  }
}
