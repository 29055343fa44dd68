import type { ExecutedBlock } from '#block/execution/executedBlock'
import { executionFault } from '#block/faults'
import { u64Bytes, u64FromBytes } from '#lib/bytes'
import { fromHex, hexAt } from '#lib/hex'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { tables } from '#store/tables'
import type { Block } from '#types/block'
import type { BlockId } from '#types/blockRef'
import { decodeHeader, encodeHeader, type Header } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import { hashTransaction } from '#types/transaction'
import {
  blockKey,
  decodeBlockKey,
  decodeLocation,
  decodeStoredTransaction,
  encodeLocation,
  encodeRow,
  encodeStoredTransaction,
  rowEntry,
  rowLength,
  type StoredTransaction,
  type TransactionLocation,
} from './chainRows.ts'
import { encodeReceiptRow, type NamedReceipt, ReceiptRow, type StoredLog, type StoredReceipt } from './receiptRows.ts'

/** The labelled blocks of a chain. */
export type Labels = { readonly unsafe: BlockId; readonly safe: BlockId; readonly finalized: BlockId }

/** The stored labels. `base`: number of the youngest block of the published chain, while the store has replaced blocks above it. */
export type StoredHeads = Labels & { readonly base?: number }

/** Returns the number of the youngest stored block of the published chain. Retention counts from it. */
export const publishedNumber = ({ unsafe, base }: StoredHeads): number => base ?? unsafe.number

/** sizes of the parts of a block key */
const numberBytes = 8
const hashBytes = 32

const metaKey = (name: string): Uint8Array => new TextEncoder().encode(name)
const metaKeys = {
  unsafe: metaKey('chain.unsafe'),
  safe: metaKey('chain.safe'),
  finalized: metaKey('chain.finalized'),
  base: metaKey('chain.base'),
  genesis: metaKey('chain.genesis'),
  sequence: metaKey('chain.headsSequence'),
}

/** Returns receipts with the index of their first log, so that each can be read alone. */
export function storedReceipts(block: Pick<ExecutedBlock, 'executed'>): NamedReceipt[] {
  let firstLogIndex = 0
  return block.executed.map(({ receipt, gasUsed, hash }) => {
    const stored = { receipt, gasUsed, firstLogIndex, hash }
    firstLogIndex += receipt.logs.length
    return stored
  })
}

/** The parts of a block that are stored with it. */
export type StorableBlock = Pick<ExecutedBlock, 'header' | 'hash' | 'transactions' | 'executed'>

/** Writes a block as the canonical one at its number. The caller has dropped the previous one. */
export function putCanonicalBlock(tx: KvWriter, block: StorableBlock): void {
  const { number, timestamp } = block.header
  const key = blockKey({ number, hash: block.hash })
  const bodies = block.transactions.map((raw, index) => encodeStoredTransaction({ sender: senderAt(block, index), raw }))
  tx.put(tables.headers.id, key, encodeHeader(block.header))
  tx.put(tables.bodies.id, key, encodeRow(bodies))
  tx.put(tables.receipts.id, key, encodeReceiptRow(timestamp, storedReceipts(block)))
  putLookups(
    tx,
    { number, hash: block.hash },
    block.executed.map(({ hash }) => hash),
  )
}

/** Writes the rows that find a block and its transactions by hash and number. @param transactions hashes, in the order of the block */
export function putLookups(tx: KvWriter, { number, hash }: BlockId, transactions: readonly Hash[]): void {
  tx.put(tables.blockByHash.id, fromHex(hash), u64Bytes(number))
  tx.put(tables.canonical.id, u64Bytes(number), fromHex(hash))
  for (const [index, of] of transactions.entries()) tx.put(tables.txByHash.id, fromHex(of), encodeLocation({ number, index }))
}

function senderAt(block: StorableBlock, index: number): StoredTransaction['sender'] {
  const executed = block.executed[index]
  if (executed === undefined) throw new RangeError(`block ${block.hash}: transaction ${index} was not executed`)
  return executed.sender
}

/** Removes a canonical block with all of its rows. */
export function dropCanonicalBlock(tx: KvWriter, id: BlockId): void {
  const key = blockKey(id)
  const body = tx.get(tables.bodies.id, key)
  for (const { raw } of body ? transactionsIn(body) : []) tx.delete(tables.txByHash.id, fromHex(hashTransaction(raw)))
  tx.delete(tables.headers.id, key)
  tx.delete(tables.bodies.id, key)
  tx.delete(tables.receipts.id, key)
  tx.delete(tables.blockByHash.id, fromHex(id.hash))
  tx.delete(tables.canonical.id, u64Bytes(id.number))
}

/** @param sequence number of the call that set these heads */
export function putHeads(tx: KvWriter, heads: StoredHeads, sequence: number): void {
  tx.put(tables.meta.id, metaKeys.sequence, u64Bytes(sequence))
  for (const label of ['unsafe', 'safe', 'finalized'] as const) tx.put(tables.meta.id, metaKeys[label], blockKey(heads[label]))
  if (heads.base === undefined) tx.delete(tables.meta.id, metaKeys.base)
  else tx.put(tables.meta.id, metaKeys.base, u64Bytes(heads.base))
}

/** Returns the sequence of the stored heads: how many times heads were set up to them. */
export function readHeadsSequence(reader: KvReader): number {
  const value = reader.get(tables.meta.id, metaKeys.sequence)
  return value ? u64FromBytes(value) : 0
}

function readLabel(reader: KvReader, key: Uint8Array): BlockId | undefined {
  const value = reader.get(tables.meta.id, key)
  return value && decodeBlockKey(value)
}

/** Returns the last written block; undefined on a store without a chain. */
export function readHead(reader: KvReader): BlockId | undefined {
  return readLabel(reader, metaKeys.unsafe)
}

/** Returns undefined on a store without a chain. */
export function readHeads(reader: KvReader): StoredHeads | undefined {
  const [unsafe, safe, finalized] = [metaKeys.unsafe, metaKeys.safe, metaKeys.finalized].map((key) => readLabel(reader, key))
  const base = reader.get(tables.meta.id, metaKeys.base)
  return unsafe && safe && finalized && { unsafe, safe, finalized, ...(base && { base: u64FromBytes(base) }) }
}

export function putGenesisId(tx: KvWriter, id: BlockId): void {
  tx.put(tables.meta.id, metaKeys.genesis, blockKey(id))
}

export function readGenesisId(reader: KvReader): BlockId | undefined {
  const value = reader.get(tables.meta.id, metaKeys.genesis)
  return value && decodeBlockKey(value)
}

export function readCanonicalHash(reader: KvReader, number: number): Hash | undefined {
  const value = number < 0 ? undefined : reader.get(tables.canonical.id, u64Bytes(number))
  return value && hashFromBytes(value)
}

/** Returns the canonical block at a number. @throws Fault CHAIN_STORE_DAMAGED when the store has none */
export function canonicalBlock(reader: KvReader, number: number): BlockId {
  const hash = readCanonicalHash(reader, number)
  if (hash === undefined) throw executionFault('CHAIN_STORE_DAMAGED', { what: `the hash of block ${number}` })
  return { number, hash }
}

/** Whether a block is stored as a canonical one. */
export function isCanonical(kv: Pick<Kv, 'snapshot'>, { header, hash }: { readonly header: Header; readonly hash: Hash }): boolean {
  using reader = kv.snapshot()
  return readCanonicalHash(reader, header.number) === hash
}

/** Returns number and hash of a stored block. */
export function readBlockId(reader: KvReader, hash: Hash): BlockId | undefined {
  const value = reader.get(tables.blockByHash.id, fromHex(hash))
  return value && { number: u64FromBytes(value), hash }
}

export function readHeader(reader: KvReader, id: BlockId): Header | undefined {
  const row = reader.get(tables.headers.id, blockKey(id))
  return row && decodeHeader(row)
}

const transactionsIn = (row: Uint8Array): StoredTransaction[] =>
  Array.from({ length: rowLength(row) }, (_, index) => decodeStoredTransaction(rowEntry(row, index)))

export function readTransactions(reader: KvReader, id: BlockId): StoredTransaction[] | undefined {
  const row = reader.get(tables.bodies.id, blockKey(id))
  return row && transactionsIn(row)
}

/** Returns one transaction of a block without decoding the others. */
export function readTransaction(reader: KvReader, id: BlockId, index: number): StoredTransaction | undefined {
  const row = reader.get(tables.bodies.id, blockKey(id))
  return row && index < rowLength(row) ? decodeStoredTransaction(rowEntry(row, index)) : undefined
}

export function readReceipts(reader: KvReader, id: BlockId): StoredReceipt[] | undefined {
  const row = readReceiptRow(reader, id)
  return row && Array.from({ length: row.count }, (_, index) => row.receipt(index))
}

/** Returns the receipts of a block, not decoded. */
export function readReceiptRow(reader: KvReader, id: BlockId): ReceiptRow | undefined {
  const row = reader.get(tables.receipts.id, blockKey(id))
  return row && new ReceiptRow(row)
}

/** Logs of a block, with its hash and timestamp. */
export type StoredLogs = { readonly hash: Hash; readonly timestamp: number; readonly logs: readonly StoredLog[] }

/**
 * Returns the matching logs of some transactions of a canonical block, without reading the rest of the block; undefined when the row is missing, or of
 * schema 2.
 * @param indexes RangeError beyond the end of the block
 */
export function readLogs(reader: KvReader, number: number, indexes: readonly number[], matcher: LogMatcher): StoredLogs | undefined {
  const key = new Uint8Array(numberBytes + hashBytes)
  key.set(u64Bytes(number))
  const isKnown = reader.look(tables.canonical.id, key.subarray(0, numberBytes), (hash) => {
    key.set(hash, numberBytes)
    return true
  })
  if (!isKnown) return undefined
  return reader.look(tables.receipts.id, key, (bytes) => {
    const row = new ReceiptRow(bytes)
    const { timestamp } = row
    if (timestamp === undefined) return undefined
    const logs: StoredLog[] = []
    for (const index of indexes) for (const log of row.logs(index, matcher)) logs.push(log)
    return { hash: hexAt(key, numberBytes, hashBytes) as Hash, timestamp, logs }
  })
}

/** Returns the place of a transaction in the canonical chain. */
export function readLocation(reader: KvReader, hash: Hash): TransactionLocation | undefined {
  const value = reader.get(tables.txByHash.id, fromHex(hash))
  return value && decodeLocation(value)
}

export function readBlock(reader: KvReader, id: BlockId): Block | undefined {
  const header = readHeader(reader, id)
  const transactions = readTransactions(reader, id)
  return header && transactions && { header, transactions: transactions.map(({ raw }) => raw) }
}
