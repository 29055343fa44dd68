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

it('blockchain/chainRows: every entry of a row is found alone, and none beyond', () => {
  fc.assert(
    fc.property(fc.array(bytes), (entries) => {
      const row = encodeRow(entries)
      expect(rowLength(row)).toBe(entries.length)
      expect(entries.map((_, index) => rowEntry(row, index))).toEqual(entries)
      expect(() => rowEntry(row, entries.length)).toThrow(RangeError)
    }),
  )
})

it('blockchain/chainRows: a row begins with count and ends, four bytes each', () => {
  const row = encodeRow([Uint8Array.of(7), new Uint8Array(0), Uint8Array.of(8, 9)])
  expect([...row]).toEqual([0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9])
})

it('blockchain/chainRows: a stored transaction comes back as it was', () => {
  const transaction = { sender: parseAddress(`0x${'ab'.repeat(20)}`), raw: Uint8Array.of(2, 1) }
  expect(decodeStoredTransaction(encodeStoredTransaction(transaction))).toEqual(transaction)
})

it('blockchain/chainRows: block keys keep the order of numbers', () => {
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

it('blockchain/chainRows: a transaction’s place comes back', () => {
  expect(decodeLocation(encodeLocation({ number: 2 ** 40, index: 799 }))).toEqual({ number: 2 ** 40, index: 799 })
})
