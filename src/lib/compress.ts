import { brotliCompressSync, constants, deflateSync } from 'node:zlib'

/** A zlib stream (RFC 1950) at the best compression. */
export function deflate(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(deflateSync(bytes, { level: constants.Z_BEST_COMPRESSION }))
}

/** A brotli stream (RFC 7932) with a window of 4 MiB at quality 10, the level batchers use. */
export function brotliCompress(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 10,
        [constants.BROTLI_PARAM_LGWIN]: 22,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  )
}
