import { promisify } from 'node:util'
import { constants, zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

const compress = promisify(zstdCompress)

/** Compresses into a zstd frame (RFC 8878) at a fast level, in the platform's thread pool. */
export async function zstd(bytes: Uint8Array): Promise<Uint8Array> {
  const frame = await compress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
  return new Uint8Array(frame.buffer, frame.byteOffset, frame.length)
}

const checkedParams = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } }

/** Compresses into a zstd frame with a checksum of the content, at the usual level, in this thread. */
export function zstdChecked(bytes: Uint8Array): Uint8Array {
  const frame = zstdCompressSync(bytes, checkedParams)
  return new Uint8Array(frame.buffer, frame.byteOffset, frame.length)
}

/** Longest output that is decompressed in one step, and the bytes beyond it with which the decoder sees its end there. */
const [oneStepBytes, endBytes] = [512 * 1_024, 64]

/** Decompresses a zstd frame. Returns undefined when the bytes are not a frame, contradict its checksum, or decompress to more than `maxBytes`. */
export function unzstd(frame: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    const chunkSize = maxBytes <= oneStepBytes ? { chunkSize: maxBytes + endBytes } : {}
    const bytes = zstdDecompressSync(frame, { maxOutputLength: maxBytes, ...chunkSize })
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  } catch {
    return undefined
  }
}
