import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareBytes } from '#lib/bytes'
import { hashFromBytes, parseAddress } from '#types/ids'
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
} from './chainRows.ts'

const bytes = fc.uint8Array({ maxLength: 40 })

it('blockchain/chainRows: reads each entry of a row alone, and none beyond the end', () => {
  fc.assert(
    fc.property(fc.array(bytes), (entries) => {
      const row = encodeRow(entries)
      expect(rowLength(row)).toBe(entries.length)
      expect(entries.map((_, index) => rowEntry(row, index))).toEqual(entries)
      expect(() => rowEntry(row, entries.length)).toThrow(RangeError)
    }),
  )
})

it('blockchain/chainRows: writes count and ends at the start of a row, four bytes each', () => {
  const row = encodeRow([Uint8Array.of(7), new Uint8Array(0), Uint8Array.of(8, 9)])
  expect([...row]).toEqual([0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9])
})

it('blockchain/chainRows: decodes a stored transaction to the encoded one', () => {
  const transaction = { sender: parseAddress(`0x${'ab'.repeat(20)}`), raw: Uint8Array.of(2, 1) }
  expect(decodeStoredTransaction(encodeStoredTransaction(transaction))).toEqual(transaction)
})

it('blockchain/chainRows: orders block keys by number', () => {
  const id = fc.record({
    number: fc.maxSafeNat(),
    hash: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hashFromBytes),
  })
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(decodeBlockKey(blockKey(a))).toEqual(a)
      if (a.number !== b.number) expect(Math.sign(compareBytes(blockKey(a), blockKey(b)))).toBe(Math.sign(a.number - b.number))
    }),
  )
})

it('blockchain/chainRows: decodes a transaction’s place to the encoded one', () => {
  expect(decodeLocation(encodeLocation({ number: 2 ** 40, index: 799 }))).toEqual({ number: 2 ** 40, index: 799 })
})
