import { expect, it } from 'vitest'
import { hashFromBytes, parseAddress } from '#types/ids'
import { LogMatcher } from '#types/logMatcher'
import { createReceipt, encodeReceipt } from '#types/receipt'
import { encodeReceiptRow, ReceiptRow } from './receiptRows.ts'

const hash = (byte: number) => hashFromBytes(new Uint8Array(32).fill(byte))
const log = { address: parseAddress(`0x${'ab'.repeat(20)}`), topics: [hash(1), hash(2)], data: Uint8Array.of(7, 8) }
const receipts = [
  createReceipt({ type: 0x7e, succeeded: true, cumulativeGasUsed: 9n, logs: [], depositNonce: 3n }),
  createReceipt({ type: 0, succeeded: false, cumulativeGasUsed: 30n, logs: [log, { ...log, topics: [] }] }),
]
const stored = receipts.map((receipt, index) => ({ receipt, gasUsed: 2n ** 60n + BigInt(index), firstLogIndex: 70_000 + index }))
const bytes = encodeReceiptRow(
  1_763_000_000,
  stored.map((each, index) => ({ ...each, hash: hash(0xa0 + index) })),
)

it('blockchain/receiptRows: decodes receipts to the encoded ones, together and in parts', () => {
  const row = new ReceiptRow(bytes)
  expect([row.count, row.timestamp]).toEqual([2, 1_763_000_000])
  expect([row.receipt(0), row.receipt(1)]).toEqual(stored)
  expect(row.encoding(1)).toEqual(encodeReceipt(receipts[1] as (typeof receipts)[0]))
  expect(() => row.receipt(2)).toThrow(RangeError)
})

it('blockchain/receiptRows: returns matching logs with their transaction, which stay valid when the row is overwritten', () => {
  const lent = bytes.slice()
  const found = new ReceiptRow(lent).logs(1, new LogMatcher({ addresses: [log.address], topics: [[], [hash(2)]] }))
  lent.fill(0)
  expect(found).toEqual([{ log, transactionHash: hash(0xa1), transactionIndex: 1, logIndex: 70_001 }])
})
