import { fromHex } from '#lib/hex'
import { encodeRlp, rlpBigint, rlpBytes, rlpList, rlpScalar } from '#lib/rlp'
import { type Hash, hashFromBytes } from '#types/ids'
import type { ByteReader } from './byteReader.ts'
import { MalformedError } from './decoded.ts'

/** Batch of one block. @see specs protocol/derivation.md, "Batch Format" */
export type SingularBatch = {
  readonly kind: 'singular'
  readonly parentHash: Hash
  /** number of the L1 origin; u64 */
  readonly epochNumber: bigint
  readonly epochHash: Hash
  /** seconds; u64 */
  readonly timestamp: bigint
  /** EIP-2718 bytes, without deposits */
  readonly transactions: readonly Uint8Array[]
}

/**
 * Reads the body after the type byte and ignores bytes after it.
 * @throws RlpError, MalformedError
 */
export function readSingularBatch(reader: ByteReader): SingularBatch {
  const [parentHash, epochNumber, epochHash, timestamp, transactions, ...rest] = rlpList(reader.rlp(), 'batch')
  if (rest.length > 0) throw new MalformedError('batch with more than 5 fields')
  return {
    kind: 'singular',
    parentHash: hashFromBytes(rlpBytes(parentHash, 'parent hash', 32)),
    epochNumber: rlpBigint(epochNumber, 'epoch number', 8),
    epochHash: hashFromBytes(rlpBytes(epochHash, 'epoch hash', 32)),
    timestamp: rlpBigint(timestamp, 'timestamp', 8),
    transactions: rlpList(transactions, 'transactions').map((item) => rlpBytes(item, 'transaction').slice()),
  }
}

/** Encodes the body, without the type byte. */
export function encodeSingularBody(batch: SingularBatch): Uint8Array {
  return encodeRlp([
    fromHex(batch.parentHash),
    rlpScalar(batch.epochNumber),
    fromHex(batch.epochHash),
    rlpScalar(batch.timestamp),
    batch.transactions,
  ])
}
