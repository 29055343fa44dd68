import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { dice } from '#test/harness/dice'
import { rowSum } from './rowSum.ts'

const roll = dice(5)
const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, () => roll(256))
const sumOf = (table: number, key: Uint8Array, value: Uint8Array): number => rowSum(table, key, value, value.length)

describe('store/lmdb/rowSum', () => {
  // values on both sides of the size from which the native function is called
  it.each([
    [1, 0],
    [20, 3],
    [64, 32],
    [9, 255],
    [9, 256],
    [33, 4_068],
  ])('store/lmdb/rowSum: each flipped byte of a key of %i bytes and of a value of %i bytes changes it', (keyBytes, valueBytes) => {
    const [key, value] = [bytesOf(keyBytes), bytesOf(valueBytes)]
    const sum = sumOf(7, key, value)
    for (const bytes of [key, value]) {
      for (const at of bytes.keys()) {
        const flip = 1 + roll(255)
        bytes[at] = (bytes[at] as number) ^ flip
        expect(sumOf(7, key, value)).not.toBe(sum)
        bytes[at] = (bytes[at] as number) ^ flip
      }
    }
    expect(sumOf(7, key, value)).toBe(sum)
  })

  it('store/lmdb/rowSum: is the CRC-32 of table, key and value', () => {
    for (const length of [0, 1, 5, 33, 255, 256, 4_068]) {
      const [key, value] = [bytesOf(1 + roll(64)), bytesOf(length)]
      expect(sumOf(0x102, key, value)).toBe(crc32(concatBytes(Uint8Array.of(1, 2), key, value)))
    }
  })

  it('store/lmdb/rowSum: rows of other tables, and values of another length, have another one', () => {
    const [key, value] = [bytesOf(32), new Uint8Array(40)]
    const sums = [1, 2, 3, 257].flatMap((table) => Array.from({ length: 40 }, (_, length) => rowSum(table, key, value, length)))
    expect(new Set(sums).size).toBe(sums.length)
  })

  it('store/lmdb/rowSum: depends on the bytes up to the length only', () => {
    const value = bytesOf(50)
    expect(rowSum(1, value, value, 33)).toBe(sumOf(1, value, value.slice(0, 33)))
  })
})
