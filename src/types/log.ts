import { fromHex, type Hex } from '#lib/hex'
import { keccak256, keccak256Hex } from '#lib/keccak'
import { RlpError, type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from './ids.ts'

/** An event of a contract, as a receipt contains it. */
export type Log = { readonly address: Address; readonly topics: readonly Hash[]; readonly data: Uint8Array }

export function logToRlp(log: Log): RlpItem {
  return [fromHex(log.address), log.topics.map(fromHex), log.data]
}

/** Converts a decoded RLP item to a log. Throws RlpError on another shape. */
export function logFromRlp(item: RlpItem): Log {
  const [address, topics, data, ...rest] = rlpList(item, 'log')
  if (rest.length > 0) throw new RlpError('log: too many fields')
  return {
    address: addressFromBytes(rlpBytes(address, 'log address', 20)),
    topics: rlpList(topics, 'topics').map((topic) => hashFromBytes(rlpBytes(topic, 'topic', 32))),
    data: rlpBytes(data, 'log data'),
  }
}

export const bloomBytes = 256

/** Returns the bloom bit that a digest selects with the two bytes from `at`. */
const bitAt = (digest: Uint8Array, at: number): number => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047

/** Returns the three bloom bits of a value; bit 0 is the lowest bit of the last byte. @see yellow paper, 4.3.1 (M3:2048) */
export function bloomBits(value: Uint8Array): readonly number[] {
  const digest = keccak256(value)
  return [0, 2, 4].map((at) => bitAt(digest, at))
}

function addToBloom(bloom: Uint8Array, value: Hex): void {
  const digest = keccak256Hex(value)
  for (let i = 0; i < 6; i += 2) {
    const bit = bitAt(digest, i)
    const at = bloomBytes - 1 - (bit >> 3)
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
  }
}

/** Shared filter of an empty log list; never written to. */
const emptyBloom = new Uint8Array(bloomBytes)

/** Computes the 2,048-bit filter of addresses and topics. Callers must not write to it. */
export function bloomOf(logs: readonly Log[]): Uint8Array {
  if (logs.length === 0) return emptyBloom
  const bloom = new Uint8Array(bloomBytes)
  for (const log of logs) {
    addToBloom(bloom, log.address)
    for (const topic of log.topics) addToBloom(bloom, topic)
  }
  return bloom
}
