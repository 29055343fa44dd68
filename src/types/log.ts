import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type RlpItem, rlpBytes, rlpList } from '#lib/rlp'
import { type Address, addressFromBytes, type Hash, hashFromBytes } from './ids.ts'

/** An event of a contract, as it stands in a receipt. */
export type Log = { readonly address: Address; readonly topics: readonly Hash[]; readonly data: Uint8Array }

export function logToRlp(log: Log): RlpItem {
  return [fromHex(log.address), log.topics.map(fromHex), log.data]
}

/** RlpError when the item is not a log. */
export function logFromRlp(item: RlpItem): Log {
  const [address, topics, data] = rlpList(item, 'log')
  return {
    address: addressFromBytes(rlpBytes(address, 'log address', 20)),
    topics: rlpList(topics, 'topics').map((topic) => hashFromBytes(rlpBytes(topic, 'topic', 32))),
    data: rlpBytes(data, 'log data'),
  }
}

export const bloomBytes = 256

/** Sets the three bits of a value. @see yellow paper, 4.3.1 (M3:2048) */
function addToBloom(bloom: Uint8Array, value: Uint8Array): void {
  const hash = keccak256(value)
  for (let i = 0; i < 6; i += 2) {
    const bit = (((hash[i] ?? 0) << 8) | (hash[i + 1] ?? 0)) & 2047
    const at = bloomBytes - 1 - (bit >> 3)
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7))
  }
}

/** The 2,048-bit filter of addresses and topics. */
export function bloomOf(logs: readonly Log[]): Uint8Array {
  const bloom = new Uint8Array(bloomBytes)
  for (const log of logs) {
    addToBloom(bloom, fromHex(log.address))
    for (const topic of log.topics) addToBloom(bloom, fromHex(topic))
  }
  return bloom
}
