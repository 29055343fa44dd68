import { concatBytes } from '#lib/bytes'
import { ByteReader } from './byteReader.ts'
import { type Decoded, decoding, MalformedError } from './decoded.ts'
import { encodeSingularBody, readSingularBatch, type SingularBatch } from './singularBatch.ts'
import { joinSpanBody, readSpanBatch, type SpanBatch, type SpanHead } from './spanBatch.ts'

export type Batch = SingularBatch | SpanBatch

const singularType = 0
const spanType = 1

/**
 * Decodes one batch and ignores bytes after it.
 * @param chainId of L2
 * @see specs protocol/derivation.md, "Batch Format"
 */
export function decodeBatch(bytes: Uint8Array, chainId: number): Decoded<Batch> {
  return decoding(() => {
    const reader = new ByteReader(bytes)
    const type = reader.byte()
    if (type === singularType) return readSingularBatch(reader)
    if (type === spanType) return readSpanBatch(reader, chainId)
    throw new MalformedError(`unknown batch type ${type}`)
  })
}

export function singularBatchBytes(batch: SingularBatch): Uint8Array {
  return concatBytes(Uint8Array.of(singularType), encodeSingularBody(batch))
}

/** Encodes a span batch whose transactions are encoded already. RangeError when the span format cannot represent it. */
export function spanBatchBytes(head: SpanHead, transactions: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(spanType), joinSpanBody(head, transactions))
}
