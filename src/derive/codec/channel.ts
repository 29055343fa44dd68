import { concatBytes } from '#lib/bytes'
import { type Compression, decompressPrefix } from '#lib/decompress'
import { RlpError, rlpHead } from '#lib/rlp'
import { type Batch, decodeBatch } from './batch.ts'

/** Limits on a channel, at the time of the L1 block in which it is read. */
export type ChannelRules = {
  /** decompressed bytes beyond this limit are ignored */
  readonly maxRlpBytes: number
  /** true from Fjord on */
  readonly allowsBrotli: boolean
}

const brotliVersion = 1

/** Returns the compression that a channel's first byte names; undefined when it is unknown or not allowed. */
function compressionOf(channel: Uint8Array, rules: ChannelRules): Compression | undefined {
  const first = channel[0]
  if (first === undefined) return undefined
  if ((first & 0x0f) === 8 || (first & 0x0f) === 15) return 'zlib'
  return first === brotliVersion && rules.allowsBrotli ? 'brotli' : undefined
}

/**
 * Decompresses a channel to the RLP of its batches. When the stream is truncated, corrupt or too long, the result is the part before the error.
 * @see specs protocol/derivation.md, "Channel Format"; fjord/derivation.md, "Brotli Channel Compression"
 */
export function decompressChannel(channel: Uint8Array, rules: ChannelRules): Uint8Array {
  const compression = compressionOf(channel, rules)
  if (compression === undefined) return channel.subarray(0, 0)
  const stream = compression === 'brotli' ? channel.subarray(1) : channel // the first byte is a part of the zlib header
  return decompressPrefix(compression, stream, rules.maxRlpBytes)
}

/** Reader of the batches of a channel, in order. The first malformed batch ends the channel. `end` is the reason, once all batches are read. */
export type BatchReader = { next(): Batch | undefined; readonly end: string | undefined }

/**
 * Creates a reader of a channel's batches.
 * @param rlp decompressed channel
 * @param chainId of L2
 */
export function readBatches(rlp: Uint8Array, chainId: number): BatchReader {
  let at = 0
  let end: string | undefined
  return {
    get end(): string | undefined {
      return end
    },
    next(): Batch | undefined {
      if (end !== undefined) return undefined
      const item = nextItem(rlp, at)
      if (item.kind === 'end') {
        end = item.reason
        return undefined
      }
      at = item.next
      const batch = decodeBatch(item.bytes, chainId)
      if (batch.kind === 'decoded') return batch.value
      end = batch.reason
      return undefined
    },
  }
}

type Item = { readonly kind: 'item'; readonly bytes: Uint8Array; readonly next: number } | { readonly kind: 'end'; readonly reason: string }

function nextItem(rlp: Uint8Array, at: number): Item {
  if (at === rlp.length) return { kind: 'end', reason: 'end of data' }
  try {
    const { isList, from, to } = rlpHead(rlp, at)
    return isList ? { kind: 'end', reason: 'list instead of a batch' } : { kind: 'item', bytes: rlp.subarray(from, to), next: to }
  } catch (error) {
    if (error instanceof RlpError) return { kind: 'end', reason: error.message }
    throw error
  }
}

/** Returns a channel from a compressed stream: a zlib stream is unchanged, a brotli stream gets the version byte in front. */
export function wrapChannel(compression: Compression, stream: Uint8Array): Uint8Array {
  return compression === 'zlib' ? stream : concatBytes(Uint8Array.of(brotliVersion), stream)
}
