import { equalBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { blockTables, putSegment, readPruned, type SegmentRecord, writePruned } from '#store/segments/segmentRecords'
import type { BlockId } from '#types/blockRef'
import { decodeHeader, type Header } from '#types/header'
import { type Hash, hashFromBytes } from '#types/ids'
import type { Log } from '#types/log'
import { hashTransaction } from '#types/transaction'
import { rowEntry, rowLength } from '../chainRows.ts'
import { putLookups, readCanonicalHash, readHeader } from '../chainStore.ts'
import { checkedBody, receiptsProblem } from '../check/contentCheck.ts'
import { fillLogIndex, pruneLogIndex, readIndexMark, readLogsPruned } from '../logIndex/logIndex.ts'
import { ReceiptRow } from '../receiptRows.ts'
import { refused, refusing, sendersOf } from './baseBlocks.ts'

/** The lowest block of a chain that is stored with all its parts. */
export type LowestWhole = BlockId & { readonly parentHash: Hash }

/** Returns the lowest block that is stored with all its parts; undefined when not even the newest one is. */
export function lowestWhole(reader: KvReader): LowestWhole | undefined {
  const number = Math.max(...blockTables.map(({ id }) => readPruned(reader, id)))
  const hash = readCanonicalHash(reader, number)
  const header = hash && readHeader(reader, { number, hash })
  return hash && header && { number, hash, parentHash: header.parentHash }
}

/** Rows of a block that another node wrote to segment files. */
export type OlderRows = { readonly body: Uint8Array; readonly receipts: Uint8Array }

/** Gas of a transaction, at least. */
const leastGas = 21_000n
/** Transactions of a block that need not pay for their gas: attributes of L1, upgrades. */
const freeTransactions = 64n

/** A block whose rows are verified, with what finds it. `logs`: by transaction */
export type OlderBlock = BlockId & {
  readonly body: { readonly transactions: readonly Uint8Array[] }
  readonly logs: readonly (readonly Log[])[]
}

/**
 * Verifies the row of a header against the hash of its block.
 * @throws Fault BASE_BLOCK_REFUSED (fatal)
 */
export function verifyHeaderRow(row: Uint8Array, { number, hash }: BlockId): Header {
  return refusing(number, () => {
    // before it is decoded: a row of another node may have any content
    const found = hashFromBytes(keccak256(row))
    if (found !== hash) throw refused(number, `its hash is ${found}, expected ${hash}`)
    const header = decodeHeader(row)
    if (header.number !== number) throw refused(number, `its place holds block ${header.number}`)
    return header
  })
}

/**
 * Verifies the rows of a block against its header. No hash covers the senders in a row of a body: they are recovered again.
 * @throws Fault BASE_BLOCK_REFUSED (fatal)
 */
export function verifyOlderRows(rows: OlderRows, hash: Hash, header: Header): OlderBlock {
  const { number } = header
  return refusing(number, () => {
    if (rowLength(rows.body) > header.gasLimit / leastGas + freeTransactions) throw refused(number, 'it has more transactions than gas')
    const body = checkedBody(rows.body, header)
    if ('expected' in body) throw refused(number, `expected ${body.expected}, found ${body.found}`)
    const { transactions } = body
    for (const [index, sender] of sendersOf(number, transactions).entries()) {
      const stored = rowEntry(rows.body, index).subarray(0, 20)
      if (!equalBytes(fromHex(sender), stored)) throw refused(number, `transaction ${index} has another sender than its signature`)
    }
    const problem = receiptsProblem(
      rows.receipts,
      transactions.map((raw) => fromHex(hashTransaction(raw))),
      header,
    )
    if (problem) throw refused(number, `expected ${problem.expected}, found ${problem.found}`)
    const receipts = new ReceiptRow(rows.receipts)
    const logs = transactions.map((_, index) => receipts.receipt(index).receipt.logs)
    return { number, hash, body: { transactions }, logs }
  })
}

/**
 * Adds finalized blocks below the lowest whole one of a chain, in one transaction: the records of their segment files, the rows that find them, and the index of
 * their logs. Blocks of the files below the given ones count as pruned.
 * @param blocks verified, ascending; the last one is the parent of `lowestWhole`
 * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal)
 */
export function addOlderBlocks(kv: Kv, records: readonly SegmentRecord[], blocks: readonly OlderBlock[]): void {
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (first === undefined || last === undefined) return
  const logs = new Map(blocks.map((block) => [block.number, block.logs]))
  kv.write((tx) => {
    for (const record of records) putSegment(tx, record)
    for (const block of blocks) putLookups(tx, block, block.body.transactions.map(hashTransaction))
    for (const { id } of blockTables) writePruned(tx, id, first.number)
    addLogs(tx, first.number, last.number, (number) => logs.get(number))
  })
}

/** Adds the logs of blocks, unless the index has been pruned above them meanwhile. */
function addLogs(tx: KvWriter, first: number, last: number, logsOf: (number: number) => readonly (readonly Log[])[] | undefined): void {
  if (readIndexMark(tx)?.from !== last + 1 || readLogsPruned(tx) > last + 1) return
  pruneLogIndex(tx, { from: first, keys: [] })
  const always = (): boolean => true
  while ((readIndexMark(tx)?.from ?? first) > first) fillLogIndex(tx, logsOf, always)
}
