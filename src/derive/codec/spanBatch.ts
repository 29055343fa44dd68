import { concatBytes } from '#lib/bytes'
import { encodeBitlist, readBitlist } from './bitlist.ts'
import { type ByteReader, encodeUvarint } from './byteReader.ts'
import { MalformedError } from './decoded.ts'
import { encodeSpanTransactions, readSpanTransactions } from './spanTransactions.ts'

export type SpanBlock = {
  /** the block's L1 origin is the one after its parent's */
  readonly advancesOrigin: boolean
  /** EIP-2718 bytes, no deposits */
  readonly transactions: readonly Uint8Array[]
}

/** A run of blocks as the batcher posts it. @see specs protocol/delta/span-batches.md, "Span batch format" */
export type SpanBatch = {
  readonly kind: 'span'
  /** of the first block, since L2 genesis; seconds; u64 */
  readonly relativeTimestamp: bigint
  /** L1 origin of the last block; u64 */
  readonly l1OriginNumber: bigint
  /** first 20 bytes of the hash of the first block's parent */
  readonly parentCheck: Uint8Array
  /** first 20 bytes of the hash of the last block's L1 origin */
  readonly l1OriginCheck: Uint8Array
  /** at least one */
  readonly blocks: readonly SpanBlock[]
}

export const checkBytes = 20
/** Blocks of a span, and transactions of a span. @see specs protocol/delta/span-batches.md, "Span Batch Size Limits" */
const maxSpanElements = 10_000_000

/** The body after the type byte; bytes after it are left alone. RlpError, MalformedError. */
export function readSpanBatch(reader: ByteReader, chainId: number): SpanBatch {
  const relativeTimestamp = reader.uvarint()
  const l1OriginNumber = reader.uvarint()
  const parentCheck = reader.take(checkBytes).slice()
  const l1OriginCheck = reader.take(checkBytes).slice()
  const blockCount = reader.count(maxSpanElements)
  if (blockCount === 0) throw new MalformedError('span batch without blocks')
  const advances = readBitlist(reader, blockCount)
  const counts: number[] = []
  let total = 0
  for (let i = 0; i < blockCount; i++) {
    const count = reader.count(maxSpanElements)
    total += count
    counts.push(count)
  }
  if (total > maxSpanElements) throw new MalformedError(`span batch of ${total} transactions`)
  const transactions = readSpanTransactions(reader, total, chainId)
  let from = 0
  const blocks = counts.map((count, index) => {
    from += count
    return { advancesOrigin: advances.has(index), transactions: transactions.slice(from - count, from) }
  })
  return { kind: 'span', relativeTimestamp, l1OriginNumber, parentCheck, l1OriginCheck, blocks }
}

/** The body without the type byte. RangeError when a span cannot say it. */
export function encodeSpanBody(batch: SpanBatch, chainId: number): Uint8Array {
  const { blocks } = batch
  const transactions = blocks.flatMap((block) => block.transactions)
  if (blocks.length === 0 || blocks.length > maxSpanElements || transactions.length > maxSpanElements) {
    throw new RangeError(`span batch of ${blocks.length} blocks, ${transactions.length} transactions`)
  }
  return concatBytes(
    encodeUvarint(batch.relativeTimestamp),
    encodeUvarint(batch.l1OriginNumber),
    batch.parentCheck,
    batch.l1OriginCheck,
    encodeUvarint(blocks.length),
    encodeBitlist(blocks.map(({ advancesOrigin }) => advancesOrigin)),
    ...blocks.map((block) => encodeUvarint(block.transactions.length)),
    encodeSpanTransactions(transactions, chainId),
  )
}
