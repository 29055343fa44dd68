import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib'

const compress = promisify(zstdCompress)

/** A zstd frame (RFC 8878) at a fast level; the work is done beside this thread. */
export async function zstd(bytes: Uint8Array): Promise<Uint8Array> {
  const frame = await compress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
  return new Uint8Array(frame.buffer, frame.byteOffset, frame.length)
}

/** undefined when the bytes are no frame, or hold more than `maxBytes`. */
export function unzstd(frame: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    const bytes = zstdDecompressSync(frame, { maxOutputLength: maxBytes })
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  } catch {
    return undefined
  }
}
