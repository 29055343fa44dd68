import { totalmem } from 'node:os'
import { expect, it } from 'vitest'
import { anonymousBytes, memoryLimit } from './processMemory.ts'

it('lib/processMemory: the limit is at most the memory of the machine', () => {
  expect(memoryLimit()).toBeGreaterThan(2 ** 26)
  expect(memoryLimit()).toBeLessThanOrEqual(totalmem())
})

it('lib/processMemory: measures memory that this process has written', () => {
  const before = anonymousBytes()
  const written = new Uint8Array(64 * 2 ** 20).fill(1)
  expect(anonymousBytes() - before).toBeGreaterThan(48 * 2 ** 20)
  expect(anonymousBytes()).toBeLessThanOrEqual(process.memoryUsage.rss() * 1.1)
  expect(written[0]).toBe(1)
})
