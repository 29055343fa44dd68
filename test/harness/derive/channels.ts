import { brotliCompressSync, constants, deflateSync } from 'node:zlib'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { type BatchForm, createBatchWriter } from '#derive/batchEncoder'
import { encodeBlob } from '#derive/codec/blob'
import { wrapChannel } from '#derive/codec/channel'
import { encodeFrames, type Frame } from '#derive/codec/frame'
import type { SafeBlock } from '#derive/ports'
import { concatBytes } from '#lib/bytes'
import type { Compression } from '#lib/decompress'
import { fromHex } from '#lib/hex'
import { encodeRlp } from '#lib/rlp'
import { decodeTransaction, depositType } from '#types/transaction'
import { type Batch, singularBatchBytes, spanBatchBytes } from '../../../src/derive/codec/batch.ts'
import { checkBytes, type SpanBatch, type SpanBlock } from '../../../src/derive/codec/spanBatch.ts'
import { SpanTransactionWriter } from '../../../src/derive/codec/spanTransactionWriter.ts'
import { TransactionList } from '../../../src/derive/codec/transactionList.ts'

/** Compresses into a brotli stream (RFC 7932) at quality 10, the level of op-node's batcher. */
export function brotliCompress(bytes: Uint8Array): Uint8Array {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_LGWIN]: 22 }
  return new Uint8Array(brotliCompressSync(bytes, { params }))
}

const compressors: Readonly<Record<Compression, (bytes: Uint8Array) => Uint8Array>> = {
  zlib: (bytes) => new Uint8Array(deflateSync(bytes, { level: constants.Z_BEST_COMPRESSION })),
  brotli: brotliCompress,
}

const compressed = (rlp: Uint8Array, compression: Compression): Uint8Array => wrapChannel(compression, compressors[compression](rlp))

/** Encodes a batch. RangeError when the span format cannot represent it; RlpError on malformed bytes of a transaction. */
export function encodeBatch(batch: Batch, chainId: number): Uint8Array {
  if (batch.kind === 'singular') return singularBatchBytes(batch)
  const writer = new SpanTransactionWriter(chainId)
  const all = [...batch.blocks]
  for (const raw of all.flatMap(({ transactions }) => transactionsIn(transactions))) {
    decodeTransaction(raw)
    writer.add(raw)
  }
  const blocks = all.map(({ advancesOrigin, transactions }) => ({ advancesOrigin, transactionCount: transactions.length }))
  return spanBatchBytes({ ...batch, blocks }, writer.finish())
}

/** Encodes and compresses a whole channel. RangeError when the span format cannot represent one of the batches. */
export function encodeChannel(batches: readonly Batch[], chainId: number, compression: Compression): Uint8Array {
  return compressed(concatBytes(...batches.map((batch) => encodeRlp(encodeBatch(batch, chainId)))), compression)
}

/** Returns the compressed channel of consecutive blocks, by the batcher's writer. */
export function channelOf(config: RollupConfig, blocks: readonly SafeBlock[], form: BatchForm): Uint8Array {
  const writer = createBatchWriter(config, form.batches)
  for (const block of blocks) writer.add(block)
  return compressed(writer.finish(), form.compression)
}

/** Returns the blob of a batcher transaction: 131,072 bytes. RangeError when the frames do not fit. */
export const blobOf = (frames: readonly Frame[]): Uint8Array => encodeBlob(encodeFrames(frames))

/** Returns all transactions of a list. */
export const transactionsIn = (list: TransactionList): readonly Uint8Array[] => list.first(list.length)

/** Returns the columns of a span that its blocks determine. */
export const spanColumns = (blocks: readonly SpanBlock[]): Pick<SpanBatch, 'blockCount' | 'originAdvances' | 'blocks'> => ({
  blockCount: blocks.length,
  originAdvances: blocks.slice(1).filter(({ advancesOrigin }) => advancesOrigin).length,
  blocks,
})

/** Returns the span batch of consecutive blocks. */
export function spanBatchOf({ genesis }: RollupConfig, blocks: readonly SafeBlock[]): SpanBatch {
  const [first] = blocks
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('span batch without blocks')
  return {
    kind: 'span',
    relativeTimestamp: BigInt(first.ref.timestamp - genesis.l2TimeSec),
    l1OriginNumber: BigInt(last.ref.l1Origin.number),
    parentCheck: fromHex(first.ref.parentHash).subarray(0, checkBytes),
    l1OriginCheck: fromHex(last.ref.l1Origin.hash).subarray(0, checkBytes),
    ...spanColumns(
      blocks.map(({ ref, transactions }) => ({
        advancesOrigin: ref.sequenceNumber === 0,
        transactions: TransactionList.of(transactions.filter(([type]) => type !== depositType)),
      })),
    ),
  }
}
