import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { emptyOmmersHash } from '#types/ids'
import { hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { Payload } from '#types/payload'
import { hashTransaction } from '#types/transaction'
import { transactionFromJson } from '#types/transactionJson'
import { payloadOfHeader } from './payloadHeader.ts'

/** The header, proved by the block hash beside it; so are the fields that a payload has no place for. */
function verifiedHeader(json: Json): Header {
  const header = headerFromJson(json)
  const claimed = hashField(json, 'hash')
  const hash = hashOf(header)
  if (hash !== claimed) throw new ShapeError(`hash is ${claimed}, the header's is ${hash}`)
  if (header.ommersHash !== emptyOmmersHash || header.difficulty !== 0n || header.nonce.some((byte) => byte !== 0)) {
    throw new ShapeError('a block with ommers, difficulty or nonce is no block of this chain')
  }
  return header
}

function hashOf(header: Header): string {
  try {
    return hashHeader(header)
  } catch (error) {
    if (error instanceof RangeError) throw new ShapeError('a later header field stands without the ones before it', { cause: error })
    throw error
  }
}

/** Bytes of the transactions, proved by the root in a header that is proved itself. */
function verifiedTransactions(json: Json, header: Header): readonly Uint8Array[] {
  const listed = listOf(json['transactions'], 'transactions')
  const raws = listed.map((item) => {
    const raw = transactionFromJson(item)
    if (raw === undefined) throw new ShapeError('a transaction of a type that this version does not know')
    return raw
  })
  if (orderedRoot(raws) === header.transactionsRoot) return raws
  const wrong = raws.findIndex((raw, index) => hashField(objectOf(listed[index], 'transaction'), 'hash') !== hashTransaction(raw))
  throw new ShapeError(wrong < 0 ? 'the transactions have another root than the header' : `transaction ${wrong} has another hash`)
}

/**
 * The payload in an answer of `eth_getBlockByNumber` or `eth_getBlockByHash` with full transactions. Nothing of the answer is believed that the
 * block hash does not prove: the header hashes to it and the transactions, encoded again, have the header's root. Whether it is the block that
 * was asked for is the caller's to compare.
 * @throws ShapeError with what is wrong, in words for a log
 */
export function payloadOfBlockJson(value: unknown): Payload {
  const json = objectOf(value, 'block')
  const header = verifiedHeader(json)
  if (header.baseFeePerGas === undefined) throw new ShapeError('baseFeePerGas is missing')
  if (json['withdrawals'] != null && listOf(json['withdrawals'], 'withdrawals').length > 0)
    throw new ShapeError('withdrawals are not empty')
  return payloadOfHeader(header, hashField(json, 'hash'), verifiedTransactions(json, header))
}
