import { brotliDecompressSync } from 'node:zlib'
import { inflate } from 'pako'
import { expect, it } from 'vitest'
import { brotliCompress, compress, deflate } from './compress.ts'

const repeated = new TextEncoder().encode('transfer(address,uint256) '.repeat(400))

it.each([
  ['nothing', new Uint8Array(0)],
  ['text that repeats itself', repeated],
  ['a part of an array', repeated.subarray(7, 1_000)],
])('lib/compress: %s comes out of another decompressor as it went in', (_what, bytes) => {
  expect(inflate(deflate(bytes))).toEqual(bytes)
  expect(new Uint8Array(brotliDecompressSync(brotliCompress(bytes)))).toEqual(bytes)
})

it('lib/compress: a zlib stream says deflate, window 32 KiB, best compression; a brotli stream a window of 4 MiB', () => {
  expect([...deflate(repeated).subarray(0, 2)]).toEqual([0x78, 0xda])
  // RFC 7932, 9.1: the bits 1, then 101 = 5, are a window of 17 + 5 bits
  expect((brotliCompress(repeated)[0] ?? 0) & 0b1111).toBe(0b1011)
  expect(deflate(repeated).length).toBeLessThan(200)
  expect(brotliCompress(repeated).length).toBeLessThan(200)
})

it.each(['fast', 'best'] as const)('lib/compress: what a thread makes, %s, comes out as it went in', async (effort) => {
  expect(inflate(await compress('zlib', repeated, effort))).toEqual(repeated)
  expect(new Uint8Array(brotliDecompressSync(await compress('brotli', repeated, effort)))).toEqual(repeated)
  expect((await compress('brotli', repeated, effort)).length).toBeLessThan(200)
})
