import { concatBytes } from '#lib/bytes'
import { encodeBitlist, readBitlist } from './bitlist.ts'
import { type ByteReader, encodeUvarint } from './byteReader.ts'
import { MalformedError } from './decoded.ts'
import { readSpanTransactions } from './spanTransactions.ts'

export type SpanBlock = {
  /** the block's L1 origin is the block after its parent's L1 origin */
  readonly advancesOrigin: boolean
  /** EIP-2718 bytes, without deposits */
  readonly transactions: readonly Uint8Array[]
}

/** Batch of consecutive blocks. @see specs protocol/delta/span-batches.md, "Span batch format" */
export type SpanBatch = {
  readonly kind: 'span'
  /** time of the first block since L2 genesis; seconds; u64 */
  readonly relativeTimestamp: bigint
  /** number of the last block's L1 origin; u64 */
  readonly l1OriginNumber: bigint
  /** first 20 bytes of the hash of the first block's parent */
  readonly parentCheck: Uint8Array
  /** first 20 bytes of the hash of the last block's L1 origin */
  readonly l1OriginCheck: Uint8Array
  /** at least one */
  readonly blocks: readonly SpanBlock[]
}

export const checkBytes = 20
/** Maximum number of blocks, and of transactions, in a span. @see specs protocol/delta/span-batches.md, "Span Batch Size Limits" */
const maxSpanElements = 10_000_000

/**
 * Reads the body after the type byte and ignores bytes after it.
 * @throws RlpError, MalformedError
 */
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
  if (total > maxSpanElements) throw new MalformedError(`span batch with ${total} transactions`)
  const transactions = readSpanTransactions(reader, total, chainId)
  let from = 0
  const blocks = counts.map((count, index) => {
    from += count
    return { advancesOrigin: advances.has(index), transactions: transactions.slice(from - count, from) }
  })
  return { kind: 'span', relativeTimestamp, l1OriginNumber, parentCheck, l1OriginCheck, blocks }
}

/** Fields of a span batch before its transactions. `blocks` has the number of transactions of each block. */
export type SpanHead = Omit<SpanBatch, 'kind' | 'blocks'> & {
  readonly blocks: readonly { readonly advancesOrigin: boolean; readonly transactionCount: number }[]
}

/**
 * Encodes the body, without the type byte.
 * @param transactions the encoded columns of the span's transactions
 * @throws RangeError when the span format cannot represent it
 */
export function joinSpanBody(head: SpanHead, transactions: Uint8Array): Uint8Array {
  const { blocks } = head
  const total = blocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  if (blocks.length === 0 || blocks.length > maxSpanElements || total > maxSpanElements) {
    throw new RangeError(`span batch with ${blocks.length} blocks and ${total} transactions`)
  }
  return concatBytes(
    encodeUvarint(head.relativeTimestamp),
    encodeUvarint(head.l1OriginNumber),
    head.parentCheck,
    head.l1OriginCheck,
    encodeUvarint(blocks.length),
    encodeBitlist(blocks.map(({ advancesOrigin }) => advancesOrigin)),
    ...blocks.map(({ transactionCount }) => encodeUvarint(transactionCount)),
    transactions,
  )
}
