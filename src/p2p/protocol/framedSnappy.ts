import { concatBytes, equalBytes } from '#lib/bytes'
import { decodeSnappyBlock, encodeSnappyBlock } from '#lib/peers/snappy'

/** Chunk that begins every stream. */
const identifier = Uint8Array.of(0xff, 6, 0, 0, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59)
const maxChunkBytes = 65_536
const kinds = { compressed: 0x00, plain: 0x01, identifier: 0xff } as const
/** Chunks of these types are skipped; other unknown types are errors. */
const firstSkippable = 0x80

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f6_3b78 : value >>> 1
  return value
})

/** Returns the CRC-32C of the data, masked as the format requires. */
function maskedChecksum(data: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of data) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  crc = ~crc >>> 0
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0
}

const u24 = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256 + (bytes[at + 2] ?? 0) * 65_536
const u32 = (bytes: Uint8Array): number => u24(bytes, 0) + (bytes[3] ?? 0) * 0x100_0000

function chunkOf(kind: number, checksum: number, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + data.length)
  const view = new DataView(out.buffer)
  view.setUint32(0, kind + (data.length + 4) * 256, true)
  view.setUint32(4, checksum, true)
  out.set(data, 8)
  return out
}

/** Compresses bytes into a stream. @see google/snappy framing_format.txt */
export function encodeFramedSnappy(data: Uint8Array): Uint8Array {
  const chunks: Uint8Array[] = [identifier]
  for (let from = 0; from < data.length; from += maxChunkBytes) {
    const plain = data.subarray(from, from + maxChunkBytes)
    const compressed = encodeSnappyBlock(plain)
    const [kind, bytes] = compressed.length < plain.length ? [kinds.compressed, compressed] : [kinds.plain, plain]
    chunks.push(chunkOf(kind, maskedChecksum(plain), bytes))
  }
  return concatBytes(...chunks)
}

/** Decodes the body of one data chunk; undefined: malformed, or a wrong checksum. */
function decodeChunk(kind: number, body: Uint8Array): Uint8Array | undefined {
  if (body.length < 4) return undefined
  const data = body.subarray(4)
  const plain = kind === kinds.compressed ? decodeSnappyBlock(data, maxChunkBytes) : data
  return plain && plain.length <= maxChunkBytes && maskedChecksum(plain) === u32(body) ? plain : undefined
}

/**
 * Decompresses a whole stream.
 * @returns undefined when it is malformed, a checksum is wrong, or the data exceeds `maxBytes`
 */
export function decodeFramedSnappy(stream: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (!equalBytes(stream.subarray(0, identifier.length), identifier)) return undefined
  const parts: Uint8Array[] = []
  let total = 0
  for (let at = identifier.length; at < stream.length; ) {
    const kind = stream[at] ?? 0
    const length = u24(stream, at + 1)
    const body = stream.subarray(at + 4, at + 4 + length)
    if (at + 4 > stream.length || body.length !== length) return undefined
    at += 4 + length
    if (kind === kinds.compressed || kind === kinds.plain) {
      const plain = decodeChunk(kind, body)
      if (plain === undefined || total + plain.length > maxBytes) return undefined
      total += plain.length
      parts.push(plain)
    } else if (kind < firstSkippable) return undefined
  }
  return concatBytes(...parts)
}
