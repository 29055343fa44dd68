import { fromHex, hexAt } from '#lib/hex'
import { rlpHead } from '#lib/rlp'
import type { Address, Hash } from './ids.ts'
import { bloomBits, bloomBytes, type Log } from './log.ts'

/** A log filter. An empty list of alternatives matches everything. */
export type WantedLogs = { readonly addresses: readonly Address[]; readonly topics: readonly (readonly Hash[])[] }

/** Accepted values at one position of a log; an empty list accepts any value. */
class Alternatives {
  readonly #values: ReadonlySet<string>
  /** Set when there is exactly one value, the most frequent case and the fastest to compare. */
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

  /** Returns whether the bytes at `from` are one of the values. @param size size of a value in bytes */
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

/** Decodes a log from its own encoder's RLP, where each address and topic has a prefix of one byte. @param from offset of the log's fields */
function logAt(bytes: Uint8Array, from: number): Log {
  const list = rlpHead(bytes, from + 1 + addressBytes)
  const topics: Hash[] = []
  for (let at = list.from; at < list.to; at += 1 + topicBytes) topics.push(hexAt(bytes, at + 1, topicBytes) as Hash)
  const data = rlpHead(bytes, list.to)
  return { address: hexAt(bytes, from + 1, addressBytes) as Address, topics, data: bytes.slice(data.from, data.to) }
}

/** Of a value in a bloom. */
const bitsPerValue = 3

function bitsOf(values: readonly string[]): Uint16Array {
  const bits = new Uint16Array(values.length * bitsPerValue)
  for (const [index, value] of values.entries()) bits.set(bloomBits(fromHex(value)), index * bitsPerValue)
  return bits
}

function isAnyIn(bloom: Uint8Array, bits: Uint16Array): boolean {
  for (let at = 0; at < bits.length; at += bitsPerValue) {
    let isIn = true
    for (let of = at; isIn && of < at + bitsPerValue; of++) {
      const bit = bits[of] ?? 0
      isIn = ((bloom[bloomBytes - 1 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0
    }
    if (isIn) return true
  }
  return false
}

/**
 * Tests a log filter against blooms, logs and encoded logs. Hashes the filter's values once.
 * An empty list of alternatives matches everything, also a missing topic.
 * @see execution-apis, eth_getLogs: "topics"
 */
export class LogMatcher {
  /** the bits of each value in a bloom, of one list of alternatives after the other */
  readonly #bits: readonly Uint16Array[]
  readonly #addresses: Alternatives
  readonly #topics: readonly Alternatives[]

  constructor({ addresses, topics }: WantedLogs) {
    const groups: readonly (readonly string[])[] = [addresses, ...topics].filter((values) => values.length > 0)
    this.#bits = groups.map((values) => bitsOf(values))
    this.#addresses = new Alternatives(addresses)
    this.#topics = topics.map((values) => new Alternatives(values))
  }

  mayBeIn(bloom: Uint8Array): boolean {
    return this.#bits.every((bits) => isAnyIn(bloom, bits))
  }

  matches(log: Log): boolean {
    return this.#addresses.has(log.address) && this.#topics.every((values, index) => values.has(log.topics[index] ?? ''))
  }

  /**
   * Returns the matching logs of an encoded receipt with their indices among its logs. Decodes only matching logs.
   * @param receipt encoded by `encodeReceipt`; the returned logs own their bytes
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

  /** Tests one encoded log. @param from offset of the log's fields */
  #matchesAt(bytes: Uint8Array, from: number): boolean {
    if (!this.#addresses.hasAt(bytes, from + 1, addressBytes)) return false
    const topics = rlpHead(bytes, from + 1 + addressBytes)
    return this.#topics.every((values, index) => {
      const at = topics.from + index * (1 + topicBytes)
      return values.isAny || (at < topics.to && values.hasAt(bytes, at + 1, topicBytes))
    })
  }
}
