import { beforeEach, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import type { Kv } from '#store/ports'
import type { Difference } from '#store/rowCheck'
import { tables } from '#store/tables'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { busyBlocks, write } from '#test/harness/store/searchedLogs'
import { hashFromBytes } from '#types/ids'
import { createReceipt } from '#types/receipt'
import { blockKey } from '../chainRows.ts'
import { blockRows, type IndexedBlock, readBlock } from '../logIndex/logIndexRows.ts'
import { encodeReceiptRow } from '../receiptRows.ts'
import { checkLogIndex } from './logIndexCheck.ts'

const table = tables.logIndex.id
const hashOf = (number: number) => hashFromBytes(new Uint8Array(32).fill(number + 1))
const blocks = busyBlocks(12, 2)
let kv: Kv

/** Writes two blocks with their receipts and their index. */
beforeEach(() => {
  kv = createMemoryKv()
  write(kv, blocks)
  kv.write((tx) => {
    for (const [number, transactions] of blocks.entries()) {
      const receipts = transactions.map((logs, index) => ({
        receipt: createReceipt({ type: 2, succeeded: true, cumulativeGasUsed: 0n, logs: [...logs] }),
        gasUsed: 0n,
        firstLogIndex: 2 * index,
        hash: hashOf(number),
      }))
      tx.put(tables.canonical.id, u64Bytes(number), Buffer.from(hashOf(number).slice(2), 'hex'))
      tx.put(tables.receipts.id, blockKey({ number, hash: hashOf(number) }), encodeReceiptRow(0, receipts))
    }
  })
})

function differences(): readonly Difference[] {
  using reader = kv.snapshot()
  const found: Difference[] = []
  checkLogIndex(reader, undefined, 1, { hasTime: () => true, onRow() {}, report: (difference) => void found.push(difference) })
  return found
}

/** Returns the key of the row of block 1, or of one of its slices. */
const keyOf = (...slice: number[]): Uint8Array => new Uint8Array([2, ...u64Bytes(1), ...slice])

it('blockchain/check/logIndexCheck: finds nothing in blocks with slices, nor in those that schema 11 wrote as one row', () => {
  expect(differences()).toEqual([])
  kv.write((tx) => {
    const block = readBlock(tx, 1) as IndexedBlock
    for (const key of [...tx.keys(table, { from: keyOf() })]) tx.delete(table, key)
    for (const { key, value } of blockRows(1, block, 0)) tx.put(table, key, value)
  })
  expect(differences()).toEqual([])
})

it.each([
  ['a missing slice', keyOf(1), undefined, 'no row'],
  ['a changed slice', keyOf(1), new Uint8Array(8), 'another value'],
  ['a slice beyond the last one', keyOf(200), new Uint8Array(8), 'a row'],
  ['a row with impossible slices', keyOf(), Uint8Array.of(0, 0, 0, 1, 77), 'another value'],
])('blockchain/check/logIndexCheck: reports %s', (_name, key, value, found) => {
  kv.write((tx) => (value ? tx.put(table, key, value) : tx.delete(table, key)))
  const hex = `0x${Buffer.from(key).toString('hex')}`
  expect(differences()).toContainEqual(expect.objectContaining({ table: 'logIndex', key: hex, found }))
})
