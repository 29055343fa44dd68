import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { encodeRlpList } from '#lib/rlp'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import { builtGenesis } from '#test/harness/chain/executedBlocks'
import { encodeHeader } from '#types/header'
import { hashFromBytes, zeroAddress } from '#types/ids'
import { encodeRow, encodeStoredTransaction } from '../chainRows.ts'
import { encodeReceiptRow } from '../receiptRows.ts'
import { verifyHeaderRow, verifyOlderRows } from './olderBlocks.ts'

const { header, hash } = builtGenesis(smallChain(scheduleTo('isthmus'))).block
const refused = (reason: string) => expect.objectContaining({ code: 'BASE_BLOCK_REFUSED', message: expect.stringContaining(reason) })
/** A row of another node that takes a minute to decode: a list of millions of items. */
const manyItems = encodeRlpList(Array.from({ length: 2 ** 22 }, () => Uint8Array.of(1)))

it('blockchain/base/olderBlocks: a header is hashed before it is decoded', () => {
  const row = encodeHeader(header)
  expect(verifyHeaderRow(row, { number: header.number, hash })).toEqual(header)
  expect(() => verifyHeaderRow(row, { number: header.number + 1, hash })).toThrow(refused(`its place holds block ${header.number}`))
  const startMs = performance.now()
  expect(() => verifyHeaderRow(manyItems, { number: header.number, hash })).toThrow(refused('its hash is'))
  expect(() => verifyHeaderRow(row.subarray(1), { number: header.number, hash: hashFromBytes(keccak256(row.subarray(1))) })).toThrow(
    refused(''),
  )
  expect(performance.now() - startMs).toBeLessThan(10_000)
})

it('blockchain/base/olderBlocks: rows with more transactions or bytes than the gas of their block allows are not decoded', () => {
  const none = { body: encodeRow([]), receipts: encodeReceiptRow(header.timestamp, []) }
  expect(verifyOlderRows(none, hash, header)).toEqual({ number: header.number, hash, body: { transactions: [] }, logs: [] })
  const entry = concatBytes(new Uint8Array(20), Uint8Array.of(1))
  const body = encodeRow(Array.from({ length: Number(header.gasLimit) / 21_000 + 65 }, () => entry))
  expect(() => verifyOlderRows({ ...none, body }, hash, header)).toThrow(refused('it has more transactions than gas'))
  const startMs = performance.now()
  const place = new Uint8Array(44)
  const receipts = concatBytes(none.receipts.subarray(0, 9), encodeRow([concatBytes(place, manyItems)]))
  expect(() => verifyOlderRows({ ...none, receipts }, hash, header)).toThrow(refused('expected receipts with root'))
  expect(performance.now() - startMs).toBeLessThan(10_000)
  const other = encodeStoredTransaction({ sender: zeroAddress, raw: fromHex('0x02c0') })
  expect(() => verifyOlderRows({ ...none, body: encodeRow([other]) }, hash, header)).toThrow(refused('expected transactions with root'))
})
