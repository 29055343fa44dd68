import { brotliDecompressSync } from 'node:zlib'
import { inflate } from 'pako'
import { expect, it } from 'vitest'
import { compress } from './compress.ts'

const repeated = new TextEncoder().encode('transfer(address,uint256) '.repeat(400))

it.each([
  ['nothing', new Uint8Array(0)],
  ['repetitive text', repeated],
  ['a view of a larger array', repeated.subarray(7, 1_000)],
])('lib/compress: another decompressor restores %s', async (_what, bytes) => {
  expect(inflate(await compress('zlib', bytes, 'best'))).toEqual(bytes)
  expect(new Uint8Array(brotliDecompressSync(await compress('brotli', bytes, 'best')))).toEqual(bytes)
})

it('lib/compress: zlib streams use a 32 KiB window at best compression; brotli streams use a 4 MiB window', async () => {
  const [deflated, brotli] = await Promise.all([compress('zlib', repeated, 'best'), compress('brotli', repeated, 'best')])
  expect([...deflated.subarray(0, 2)]).toEqual([0x78, 0xda])
  // RFC 7932, 9.1: the bits 1, then 101 = 5, mean a window of 17 + 5 bits
  expect((brotli[0] ?? 0) & 0b1111).toBe(0b1011)
  expect(deflated.length).toBeLessThan(200)
  expect(brotli.length).toBeLessThan(200)
})

it.each(['fast', 'best'] as const)('lib/compress: compress in a thread, effort %s, round-trips', async (effort) => {
  expect(inflate(await compress('zlib', repeated, effort))).toEqual(repeated)
  expect(new Uint8Array(brotliDecompressSync(await compress('brotli', repeated, effort)))).toEqual(repeated)
  expect((await compress('brotli', repeated, effort)).length).toBeLessThan(200)
})
