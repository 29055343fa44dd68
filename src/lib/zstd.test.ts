import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { unzstd, zstdChecked } from './zstd.ts'

it.each([0, 1, 64, 16_384, 100_000, 512 * 1_024, 512 * 1_024 + 1, 3_000_000])(
  'lib/zstd: decompresses a frame of %i bytes within its bound, and none above it',
  (length) => {
    const bytes = new Uint8Array(randomBytes(length))
    const frame = zstdChecked(bytes)
    expect(Buffer.compare(unzstd(frame, Math.max(1, length)) ?? expect.fail(), bytes)).toBe(0)
    expect(Buffer.compare(unzstd(frame, 2 * length + 100) ?? expect.fail(), bytes)).toBe(0)
    for (const less of [1, 40, 1_000]) if (length > less) expect(unzstd(frame, length - less)).toBeUndefined()
  },
)

it('lib/zstd: a damaged, truncated or empty frame has no bytes', () => {
  const frame = zstdChecked(new Uint8Array(20_000).fill(5))
  const damaged = Uint8Array.from(frame)
  damaged[frame.length - 1] = (damaged[frame.length - 1] ?? 0) ^ 1
  expect(unzstd(damaged, 20_000)).toBeUndefined()
  expect(unzstd(frame.subarray(0, frame.length - 5), 20_000)).toBeUndefined()
  expect(unzstd(new Uint8Array(0), 20_000)).toBeUndefined()
})
