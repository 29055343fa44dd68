import { fromHex } from '#lib/hex'
import { encodeRlp, encodeRlpList, rlpBigint, rlpBytes, rlpHead, rlpScalar, rlpString, splitRlpList } from '#lib/rlp'
import { type Hash, hashFromBytes } from '#types/ids'
import type { ByteReader } from './byteReader.ts'
import { MalformedError } from './decoded.ts'
import { TransactionList } from './transactionList.ts'

/** Batch of one block. @see specs protocol/derivation.md, "Batch Format" */
export type SingularBatch = {
  readonly kind: 'singular'
  readonly parentHash: Hash
  /** number of the L1 origin; u64 */
  readonly epochNumber: bigint
  readonly epochHash: Hash
  /** seconds; u64 */
  readonly timestamp: bigint
  readonly transactions: TransactionList
}

function readTransactions(list: Uint8Array | undefined): TransactionList {
  if (list === undefined) throw new MalformedError('batch without transactions')
  const { isList, from } = rlpHead(list, 0)
  if (!isList) throw new MalformedError('transactions: list expected')
  return new TransactionList(list.slice(from))
}

/**
 * Reads the body after the type byte and ignores bytes after it.
 * @throws RlpError, MalformedError
 */
export function readSingularBatch(reader: ByteReader): SingularBatch {
  const [parentHash, epochNumber, epochHash, timestamp, transactions] = splitRlpList(reader.rlp(), 5, 'batch')
  return {
    kind: 'singular',
    parentHash: hashFromBytes(rlpBytes(rlpString(parentHash, 'parent hash'), 'parent hash', 32)),
    epochNumber: rlpBigint(rlpString(epochNumber, 'epoch number'), 'epoch number', 8),
    epochHash: hashFromBytes(rlpBytes(rlpString(epochHash, 'epoch hash'), 'epoch hash', 32)),
    timestamp: rlpBigint(rlpString(timestamp, 'timestamp'), 'timestamp', 8),
    transactions: readTransactions(transactions),
  }
}

/** Encodes the body, without the type byte. */
export function encodeSingularBody(batch: SingularBatch): Uint8Array {
  const fields = [fromHex(batch.parentHash), rlpScalar(batch.epochNumber), fromHex(batch.epochHash), rlpScalar(batch.timestamp)]
  return encodeRlpList([...fields.map(encodeRlp), encodeRlpList([batch.transactions.encoded])])
}
