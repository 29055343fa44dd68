import { Buffer } from 'node:buffer'
import { type Decoded, decoding, MalformedError } from './decoded.ts'

/** Size of a blob. @see EIP-4844 */
export const blobBytes = 131_072
/** 1,024 rounds of four field elements carry 127 bytes each; the version byte and the length use four bytes of the first round. */
const rounds = 1024
const roundBytes = 127
export const maxBlobDataBytes: number = rounds * roundBytes - 4
const blobEncodingVersion = 0

/** Size of a field element. Its last 31 bytes are data; the low six bits of its first byte are a part of bytes 31, 63 and 95 of the round. */
const elementBytes = 32
const wholeBytes = 31

const zeros: Uint8Array = new Uint8Array(blobBytes)
const isZero = (bytes: Uint8Array): boolean => Buffer.compare(bytes, zeros.subarray(0, bytes.length)) === 0

/**
 * Decodes the rollup data in a blob.
 * @param blob 131,072 bytes
 * @see specs protocol/ecotone/derivation.md, "Blob Encoding"
 */
export function decodeBlob(blob: Uint8Array): Decoded<Uint8Array> {
  return decoding(() => {
    if (blob.length !== blobBytes) throw new MalformedError(`blob of ${blob.length} bytes`)
    const [, version = 0, high = 0, middle = 0, low = 0] = blob
    if (version !== blobEncodingVersion) throw new MalformedError(`unknown blob encoding version ${version}`)
    const length = (high << 16) | (middle << 8) | low
    if (length > maxBlobDataBytes) throw new MalformedError(`blob with ${length} bytes of data`)
    const used = Math.ceil((4 + length) / roundBytes)
    const packed = unpack(blob, used)
    if (!isZero(packed.subarray(4 + length)) || !isZero(blob.subarray(used * 4 * elementBytes))) {
      throw new MalformedError('bytes after the data of the blob are not zero')
    }
    return packed.subarray(4, 4 + length)
  })
}

/**
 * Encodes data as a blob.
 * @returns 131,072 bytes
 * @throws RangeError on more than 130,044 bytes of data
 */
export function encodeBlob(data: Uint8Array): Uint8Array {
  if (data.length > maxBlobDataBytes) throw new RangeError(`${data.length} bytes do not fit into a blob`)
  const packed = new Uint8Array(rounds * roundBytes)
  packed.set([blobEncodingVersion, data.length >> 16, (data.length >> 8) & 0xff, data.length & 0xff])
  packed.set(data, 4)
  const blob = new Uint8Array(blobBytes)
  for (let round = 0; round < rounds; round++) {
    const from = round * roundBytes
    const to = round * 4 * elementBytes
    for (let i = 0; i < 4; i++) blob.set(packed.subarray(from + i * 32, from + i * 32 + wholeBytes), to + i * elementBytes + 1)
    const [x = 0, y = 0, z = 0] = [packed[from + 31], packed[from + 63], packed[from + 95]]
    blob[to] = x & 0x3f
    blob[to + elementBytes] = (y & 0x0f) | ((x & 0xc0) >> 2)
    blob[to + 2 * elementBytes] = z & 0x3f
    blob[to + 3 * elementBytes] = ((z & 0xc0) >> 2) | ((y & 0xf0) >> 4)
  }
  return blob
}

/**
 * Returns version, length and data of the first `used` rounds as one run of bytes. Bytes 31, 63 and 95 of a round are assembled from the first bytes
 * of its four elements.
 */
function unpack(blob: Uint8Array, used: number): Uint8Array {
  const packed = new Uint8Array(used * roundBytes)
  for (let round = 0; round < used; round++) {
    const from = round * 4 * elementBytes
    const to = round * roundBytes
    const [a = 0, b = 0, c = 0, d = 0] = [blob[from], blob[from + 32], blob[from + 64], blob[from + 96]]
    // op-node checks the high bits of every field element but the first of the blob, which has version and length
    const checked = round === 0 ? b | c | d : a | b | c | d
    if (checked & 0xc0) throw new MalformedError('field element with more than 254 bits')
    for (let i = 0; i < 4; i++) {
      const element = from + i * elementBytes
      packed.set(blob.subarray(element + 1, element + elementBytes), to + i * 32)
    }
    packed[to + 31] = (a & 0x3f) | ((b & 0x30) << 2)
    packed[to + 63] = (b & 0x0f) | ((d & 0x0f) << 4)
    packed[to + 95] = c | ((d & 0x30) << 2)
  }
  return packed
}
