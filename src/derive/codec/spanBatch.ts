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

/** What stands before the transactions of a span; `blocks` as in a span batch, by their numbers of transactions. */
export type SpanHead = Omit<SpanBatch, 'kind' | 'blocks'> & {
  readonly blocks: readonly { readonly advancesOrigin: boolean; readonly transactionCount: number }[]
}

/**
 * The body without the type byte.
 * @param transactions their columns, as the writer of a span's transactions gives them
 * @throws RangeError when a span cannot say it
 */
export function joinSpanBody(head: SpanHead, transactions: Uint8Array): Uint8Array {
  const { blocks } = head
  const total = blocks.reduce((sum, { transactionCount }) => sum + transactionCount, 0)
  if (blocks.length === 0 || blocks.length > maxSpanElements || total > maxSpanElements) {
    throw new RangeError(`span batch of ${blocks.length} blocks, ${total} transactions`)
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

/** The body without the type byte. RangeError when a span cannot say it. */
export function encodeSpanBody(batch: SpanBatch, chainId: number): Uint8Array {
  const blocks = batch.blocks.map((block) => ({ advancesOrigin: block.advancesOrigin, transactionCount: block.transactions.length }))
  const transactions = batch.blocks.flatMap((block) => block.transactions)
  return joinSpanBody({ ...batch, blocks }, encodeSpanTransactions(transactions, chainId))
}
