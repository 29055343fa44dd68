import { concatBytes } from '#lib/bytes'
import { brotliCompress, deflate } from '#lib/compress'
import { type Compression, decompressPrefix } from '#lib/decompress'
import { decodeRlpPrefix, encodeRlp, RlpError } from '#lib/rlp'
import { type Batch, decodeBatch, encodeBatch } from './batch.ts'

/** Rules of the L1 block in which a channel is read. */
export type ChannelRules = {
  /** what is beyond counts as cut off */
  readonly maxRlpBytes: number
  /** Fjord */
  readonly allowsBrotli: boolean
}

const brotliVersion = 1

/** The compression a channel names in its first byte; undefined: none that is allowed. */
function compressionOf(channel: Uint8Array, rules: ChannelRules): Compression | undefined {
  const first = channel[0]
  if (first === undefined) return undefined
  if ((first & 0x0f) === 8 || (first & 0x0f) === 15) return 'zlib'
  return first === brotliVersion && rules.allowsBrotli ? 'brotli' : undefined
}

/**
 * What a channel decompresses to: the batches' RLP. A stream that is cut, corrupt or too long gives what stands before that.
 * @see specs protocol/derivation.md, "Channel Format"; fjord/derivation.md, "Brotli Channel Compression"
 */
export function decompressChannel(channel: Uint8Array, rules: ChannelRules): Uint8Array {
  const compression = compressionOf(channel, rules)
  if (compression === undefined) return channel.subarray(0, 0)
  const stream = compression === 'brotli' ? channel.subarray(1) : channel // zlib's own first byte names it
  return decompressPrefix(compression, stream, rules.maxRlpBytes)
}

/** Batches one after another; the first that cannot be read ends the channel. `end` says why, once there is nothing more. */
export type BatchReader = { next(): Batch | undefined; readonly end: string | undefined }

/** @param rlp decompressed channel. @param chainId of L2 */
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
  if (at === rlp.length) return { kind: 'end', reason: 'read to its end' }
  try {
    const { item, next } = decodeRlpPrefix(rlp, at)
    return item instanceof Uint8Array ? { kind: 'item', bytes: item, next } : { kind: 'end', reason: 'a list where a batch was expected' }
  } catch (error) {
    if (error instanceof RlpError) return { kind: 'end', reason: error.message }
    throw error
  }
}

/** A whole channel. RangeError when a span cannot say one of the batches. */
export function encodeChannel(batches: readonly Batch[], chainId: number, compression: Compression): Uint8Array {
  const rlp = concatBytes(...batches.map((batch) => encodeRlp(encodeBatch(batch, chainId))))
  return wrapChannel(compression, compression === 'zlib' ? deflate(rlp) : brotliCompress(rlp))
}

/** A channel of a compressed stream: zlib's first byte names itself, brotli's is written before it. */
export function wrapChannel(compression: Compression, stream: Uint8Array): Uint8Array {
  return compression === 'zlib' ? stream : concatBytes(Uint8Array.of(brotliVersion), stream)
}
