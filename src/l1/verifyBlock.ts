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

/** Fields of a block's JSON that are no header fields of a later fork. */
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

/** Fields that a later fork may have added to the header: a 32-byte value as it is, anything else as a scalar. */
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

/** Every order of every choice of items, shortest first within each branch. */
function* arrangements<T>(items: readonly T[]): Generator<readonly T[]> {
  yield []
  for (const [at, item] of items.entries()) {
    for (const rest of arrangements(items.toSpliced(at, 1))) yield [item, ...rest]
  }
}

export type CheckedHeader = { readonly ref: L1Ref; readonly header: Header }
/** What does not fit: the caller knows whom to blame. */
export type Mismatch = { readonly what: string; readonly expected: string; readonly computed: string }
export type Verdict<T> = { readonly kind: 'verified'; readonly value: T } | ({ readonly kind: 'mismatch' } & Mismatch)

function verified(hash: Hash, header: Header): Verdict<CheckedHeader> {
  const { number, parentHash, timestamp } = header
  return { kind: 'verified', value: { ref: { hash, number, parentHash, timestamp }, header } }
}

/** ShapeError when a field of a later fork stands without those before it. */
function hashOf(header: Header): Hash {
  try {
    return hashHeader(header)
  } catch (error) {
    if (error instanceof RangeError) throw new ShapeError(error.message, { cause: error })
    throw error
  }
}

/**
 * The header in a block's JSON, held against the hash that the answer names. Header fields that this version does not know are found by trying
 * the unknown fields of the answer until the hash fits: the hash is the proof.
 * ShapeError when it is no header.
 */
export function verifyHeader(json: Json): Verdict<CheckedHeader> {
  const header = headerFromJson(json)
  const hash = hashField(json, 'hash')
  const computed = hashOf(header)
  if (computed === hash) return verified(hash, header)
  // an unknown field is last in the header: all known ones must be there
  if (header.requestsHash !== undefined) {
    for (const extra of arrangements(laterFields(json))) {
      const later = { ...header, extra }
      if (extra.length > 0 && hashHeader(later) === hash) return verified(hash, later)
    }
  }
  return { kind: 'mismatch', what: 'hash', expected: hash, computed }
}

/** The type of a transaction with blobs. */
const blobType = 3

/** Whether a block holds transactions with blobs. */
export const hasBlobs = (transactions: readonly Uint8Array[]): boolean => transactions.some(([type]) => type === blobType)

/**
 * The transactions of a block whose root is not to be believed, held against the hashes that the answer names and against the number of receipts.
 * This proves neither that they are all nor that the header means them.
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
 * Transactions and receipts of a block, held against the roots of its header.
 * @param listed the hashes that the answer names, when they are taken in place of a transactions root that does not fit: of a block with blobs,
 * where anvil computes another root. Never where the endpoint can lie.
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
