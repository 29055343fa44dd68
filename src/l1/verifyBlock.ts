import type { L1Block } from '#derive/ports'
import { fromHex } from '#lib/hex'
import { orderedRoot } from '#trie/orderedRoot'
import type { L1Ref } from '#types/blockRef'
import { type Header, hashHeader } from '#types/header'
import { headerFromJson } from '#types/headerJson'
import type { Hash } from '#types/ids'
import { hashField, type Json, ShapeError } from '#types/jsonShape'
import { encodeReceipt, type Receipt } from '#types/receipt'
import { hashTransaction } from '#types/transaction'

/** Fields of a block's JSON that are not header fields of a later fork. */
const notHeader: ReadonlySet<string> = new Set([
  'hash',
  'parentHash',
  'sha3Uncles',
  'miner',
  'author',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'totalDifficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  'size',
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
])
const maxLaterFields = 4

/** Returns candidates for header fields of a later fork, RLP-encoded: 32-byte values as bytes, other values as scalars. */
function laterFields(json: Json): Uint8Array[] {
  const fields: Uint8Array[] = []
  for (const [key, value] of Object.entries(json)) {
    if (notHeader.has(key) || typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) continue
    if (value.length === 66) fields.push(fromHex(value))
    else if (BigInt(value) === 0n) fields.push(new Uint8Array())
    else {
      const digits = value.slice(2).replace(/^0+/, '')
      fields.push(fromHex(`0x${digits.length % 2 === 1 ? '0' : ''}${digits}`))
    }
  }
  return fields.slice(0, maxLaterFields)
}

/** Generates all permutations of all subsets of the items. */
function* arrangements<T>(items: readonly T[]): Generator<readonly T[]> {
  yield []
  for (const [at, item] of items.entries()) {
    for (const rest of arrangements(items.toSpliced(at, 1))) yield [item, ...rest]
  }
}

export type CheckedHeader = { readonly ref: L1Ref; readonly header: Header }
/** Difference that a check found. It does not name the endpoint; the caller adds it. */
export type Mismatch = { readonly what: string; readonly expected: string; readonly computed: string }
export type Verdict<T> = { readonly kind: 'verified'; readonly value: T } | ({ readonly kind: 'mismatch' } & Mismatch)

function verified(hash: Hash, header: Header): Verdict<CheckedHeader> {
  const { number, parentHash, timestamp } = header
  return { kind: 'verified', value: { ref: { hash, number, parentHash, timestamp }, header } }
}

/** Returns the header's hash. ShapeError when a field of a later fork is present without those of the forks before it. */
function hashOf(header: Header): Hash {
  try {
    return hashHeader(header)
  } catch (error) {
    if (error instanceof RangeError) throw new ShapeError(error.message, { cause: error })
    throw error
  }
}

/**
 * Decodes the header in a block's JSON and verifies it against the hash in the response. Unknown header fields of a later fork are found by trying
 * arrangements of the unknown fields until the hash matches, which proves them.
 * @throws ShapeError when a header field is missing or malformed
 */
export function verifyHeader(json: Json): Verdict<CheckedHeader> {
  const header = headerFromJson(json)
  const hash = hashField(json, 'hash')
  const computed = hashOf(header)
  if (computed === hash) return verified(hash, header)
  // unknown fields are last in the header, so all known fields must be present
  if (header.requestsHash !== undefined) {
    for (const extra of arrangements(laterFields(json))) {
      const later = { ...header, extra }
      if (extra.length > 0 && hashHeader(later) === hash) return verified(hash, later)
    }
  }
  return { kind: 'mismatch', what: 'hash', expected: hash, computed }
}

/** Type of a blob transaction. */
const blobType = 3

export const hasBlobs = (transactions: readonly Uint8Array[]): boolean => transactions.some(([type]) => type === blobType)

/**
 * Verifies transactions against the hashes in the response and against the number of receipts, in place of a mismatched root. This proves neither
 * that the list is complete nor that the header commits to it.
 */
function verifyListed(transactions: readonly Uint8Array[], listed: readonly Hash[], receipts: readonly Receipt[]): Mismatch | undefined {
  if (transactions.length !== receipts.length) {
    return { what: 'number of transactions', expected: String(receipts.length), computed: String(transactions.length) }
  }
  for (const [index, raw] of transactions.entries()) {
    const [expected = 'absent', computed] = [listed[index], hashTransaction(raw)]
    if (computed !== expected) return { what: `hash of transaction ${index}`, expected, computed }
  }
  return undefined
}

/**
 * Verifies transactions and receipts of a block against the roots of its header.
 * @param listed transaction hashes in the response, accepted in place of a mismatched transactions root in a block with blobs, where anvil computes
 *   another root. Only for a trusted endpoint.
 */
export function verifyBody(
  { ref, header }: CheckedHeader,
  transactions: readonly Uint8Array[],
  receipts: readonly Receipt[],
  listed?: readonly Hash[],
): Verdict<L1Block> {
  const transactionsRoot = orderedRoot(transactions)
  if (transactionsRoot !== header.transactionsRoot) {
    if (listed === undefined || !hasBlobs(transactions)) {
      return { kind: 'mismatch', what: 'transactions root', expected: header.transactionsRoot, computed: transactionsRoot }
    }
    const wrong = verifyListed(transactions, listed, receipts)
    if (wrong) return { kind: 'mismatch', ...wrong }
  }
  const receiptsRoot = orderedRoot(receipts.map(encodeReceipt))
  if (receiptsRoot !== header.receiptsRoot) {
    return { kind: 'mismatch', what: 'receipts root', expected: header.receiptsRoot, computed: receiptsRoot }
  }
  return { kind: 'verified', value: { ref, header, transactions, receipts } }
}
