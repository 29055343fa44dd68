import { concatBytes } from '#lib/bytes'
import { rlpHead } from '#lib/rlp'
import { type Bitlist, encodeBitlist, readBitlist } from './bitlist.ts'
import { ByteReader, encodeUvarint } from './byteReader.ts'
import { MalformedError } from './decoded.ts'
import { readSpanTransactions } from './spanTransactions.ts'
import { TransactionList } from './transactionList.ts'

export type SpanBlock = {
  /** the block's L1 origin is the block after its parent's L1 origin */
  readonly advancesOrigin: boolean
  readonly transactions: TransactionList
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
  readonly blockCount: number
  /** number of blocks after the first that advance the L1 origin */
  readonly originAdvances: number
  /** in order; created one by one, because a channel of 11 KB may decompress to a span of ten million blocks */
  readonly blocks: Iterable<SpanBlock>
}

export const checkBytes = 20
/** Maximum number of blocks, and of transactions, in a span. @see specs protocol/delta/span-batches.md, "Span Batch Size Limits" */
const maxSpanElements = 10_000_000

/** Columns of a span: origin bits, transaction counts as base-128 integers, transactions as RLP strings. */
type Columns = { readonly advances: Bitlist; readonly counts: Uint8Array; readonly transactions: Uint8Array }

function* blocksOf({ advances, counts, transactions }: Columns): Generator<SpanBlock> {
  const reader = new ByteReader(counts)
  let at = 0
  for (let i = 0; i < advances.length; i++) {
    const from = at
    for (let left = reader.count(maxSpanElements); left > 0; left--) at = rlpHead(transactions, at).to
    const own = at === from ? TransactionList.empty : new TransactionList(transactions.subarray(from, at))
    yield { advancesOrigin: advances.has(i), transactions: own }
  }
}

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
  const column = reader.fork()
  let total = 0
  for (let i = 0; i < blockCount; i++) total += reader.count(maxSpanElements)
  if (total > maxSpanElements) throw new MalformedError(`span batch with ${total} transactions`)
  const counts = column.take(column.left - reader.left).slice()
  const columns: Columns = { advances, counts, transactions: readSpanTransactions(reader, total, chainId) }
  return {
    ...{ kind: 'span', relativeTimestamp, l1OriginNumber, parentCheck, l1OriginCheck, blockCount },
    originAdvances: advances.ones - (advances.has(0) ? 1 : 0),
    blocks: { [Symbol.iterator]: (): Iterator<SpanBlock> => blocksOf(columns) },
  }
}

/** Fields of a span batch before its transactions. `blocks` has the number of transactions of each block. */
export type SpanHead = Pick<SpanBatch, 'relativeTimestamp' | 'l1OriginNumber' | 'parentCheck' | 'l1OriginCheck'> & {
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
