import { concatBytes } from '#lib/bytes'
import { decodeSnappyBlock } from '#lib/peers/snappy'
import { sha256 } from '#lib/sha256'

/** Maximum size of a gossip message, compressed and decompressed. */
export const maxMessageBytes = 10 * 1_048_576

const validSnappy = Uint8Array.of(1, 0, 0, 0)
const invalidSnappy = Uint8Array.of(0, 0, 0, 0)
const idBytes = 20

function topicPrefix(topic: string): Uint8Array {
  const bytes = Buffer.from(topic, 'utf8')
  const out = new Uint8Array(8 + bytes.length)
  new DataView(out.buffer).setBigUint64(0, BigInt(bytes.length), true)
  out.set(bytes, 8)
  return out
}

/** Decompresses the data of a gossip message; undefined when it is malformed or too large. */
export const decompressMessage = (data: Uint8Array): Uint8Array | undefined => decodeSnappyBlock(data, maxMessageBytes)

/**
 * Returns the id of a gossip message: 20 bytes. The written specifications omit the topic; all clients include it.
 * @param data as received
 * @param decompressed of `decompressMessage`
 * @see specs protocol/rollup-node-p2p.md, "Message ID computation"
 */
export function messageId(topic: string, data: Uint8Array, decompressed: Uint8Array | undefined): Uint8Array {
  const domain = decompressed ? validSnappy : invalidSnappy
  return sha256(concatBytes(domain, topicPrefix(topic), decompressed ?? data)).subarray(0, idBytes)
}
