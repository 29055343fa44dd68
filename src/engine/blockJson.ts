import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import { emptyOmmersHash } from '#types/ids'
import { hashField, type Json, listOf, objectOf, ShapeError } from '#types/jsonShape'
import type { Payload } from '#types/payload'
import { hashTransaction } from '#types/transaction'
import { transactionFromJson } from '#types/transactionJson'
import { payloadOfHeader } from './payloadHeader.ts'

/** Returns the header, verified against the block hash next to it. Checks that fields without a place in a payload have their constant values. */
function verifiedHeader(json: Json): Header {
  const header = headerFromJson(json)
  const claimed = hashField(json, 'hash')
  const hash = hashOf(header)
  if (hash !== claimed) throw new ShapeError(`hash is ${claimed}, but the header hashes to ${hash}`)
  if (header.ommersHash !== emptyOmmersHash || header.difficulty !== 0n || header.nonce.some((byte) => byte !== 0)) {
    throw new ShapeError('a block of this chain has no ommers, difficulty or nonce')
  }
  return header
}

function hashOf(header: Header): string {
  try {
    return hashHeader(header)
  } catch (error) {
    if (error instanceof RangeError) throw new ShapeError('a later header field is present without the ones before it', { cause: error })
    throw error
  }
}

/** Returns the bytes of the transactions, verified against the root in the header. */
function verifiedTransactions(json: Json, header: Header): readonly Uint8Array[] {
  const listed = listOf(json['transactions'], 'transactions')
  const raws = listed.map((item) => {
    const raw = transactionFromJson(item)
    if (raw === undefined) throw new ShapeError('transaction of a type that this version does not support')
    return raw
  })
  if (orderedRoot(raws) === header.transactionsRoot) return raws
  const wrong = raws.findIndex((raw, index) => hashField(objectOf(listed[index], 'transaction'), 'hash') !== hashTransaction(raw))
  throw new ShapeError(wrong < 0 ? "the transactions root differs from the header's" : `transaction ${wrong} has another hash`)
}

/**
 * Returns the payload in a response of `eth_getBlockByNumber` or `eth_getBlockByHash` with full transactions. The block hash proves all of it: the
 * header hashes to it, and the encoded transactions have the header's root. The caller compares the block with the requested one.
 * @throws ShapeError with the reason, in words for a log
 */
export function payloadOfBlockJson(value: unknown): Payload {
  const json = objectOf(value, 'block')
  const header = verifiedHeader(json)
  if (header.baseFeePerGas === undefined) throw new ShapeError('baseFeePerGas is missing')
  if (json['withdrawals'] != null && listOf(json['withdrawals'], 'withdrawals').length > 0)
    throw new ShapeError('withdrawals are not empty')
  return payloadOfHeader(header, hashField(json, 'hash'), verifiedTransactions(json, header))
}
