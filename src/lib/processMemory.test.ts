import { totalmem } from 'node:os'
import { expect, it } from 'vitest'
import { anonymousBytes, memoryLimit } from './processMemory.ts'

it('lib/processMemory: the limit is at most the memory of the machine', () => {
  expect(memoryLimit()).toBeGreaterThan(2 ** 26)
  expect(memoryLimit()).toBeLessThanOrEqual(totalmem())
})

it('lib/processMemory: measures memory that this process has written', () => {
  const written: Uint8Array[] = []
  // memory that other tests have used may be freed at the same time
  const growths = Array.from({ length: 4 }, () => {
    const before = anonymousBytes()
    written.push(new Uint8Array(64 * 2 ** 20).fill(1))
    return anonymousBytes() - before
  })
  expect(Math.max(...growths)).toBeGreaterThan(48 * 2 ** 20)
  expect(anonymousBytes()).toBeLessThanOrEqual(process.memoryUsage.rss() * 1.1)
  expect(written.every(([first]) => first === 1)).toBe(true)
})
