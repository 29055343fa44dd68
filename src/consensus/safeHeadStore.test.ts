import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMemoryTable } from '#test/harness/consensus/execution'
import type { Hash } from '#types/ids'
import type { SafeHeadEntry } from './ports.ts'
import { createSafeHeadStore } from './safeHeadStore.ts'

const hash = (of: string, number: number): Hash => `0x${Buffer.from(`${of}${number}`).toString('hex').padStart(64, '0')}` as Hash
const entry = (l1: number, safe: number): SafeHeadEntry => ({
  l1: { number: l1, hash: hash('l1', l1) },
  safe: { number: safe, hash: hash('l2', safe) },
})

it('consensus/safeHeadStore: finds records by L1 number and walks back through several of one L1 block', () => {
  const store = createSafeHeadStore(createMemoryTable())
  const entries = [entry(2, 0), entry(5, 3), entry(5, 7), entry(300, 9)]
  store.append(entries)
  expect([-1, 1, 2, 4, 5, 299, 300, 2 ** 40].map((l1) => store.atOrBelow(l1)?.safe.number)).toEqual([
    undefined,
    undefined,
    0,
    0,
    7,
    7,
    9,
    9,
  ])
  const back: SafeHeadEntry[] = []
  for (let at = store.last(); at; at = store.before(at)) back.unshift(at)
  expect(back).toEqual(entries)
})

it('consensus/safeHeadStore: drops the records after a record, or all', () => {
  const store = createSafeHeadStore(createMemoryTable())
  store.append([entry(2, 0), entry(5, 3), entry(5, 7), entry(6, 9)])
  store.dropAfter(entry(5, 3))
  expect(store.last()).toEqual(entry(5, 3))
  store.dropAfter(undefined)
  expect(store.last()).toBeUndefined()
})

it('consensus/safeHeadStore: refuses records that do not ascend', () => {
  const store = createSafeHeadStore(createMemoryTable())
  store.append([entry(5, 3)])
  expect(() => store.append([entry(5, 3)])).toThrow(RangeError)
  expect(() => store.append([entry(6, 4), entry(4, 9)])).toThrow(RangeError)
  expect(store.last()).toEqual(entry(5, 3))
})

it('consensus/safeHeadStore: reads the records it wrote, at any numbers', () => {
  const numbers = fc.uniqueArray(fc.tuple(fc.nat(2 ** 31), fc.nat(2 ** 31)), { minLength: 1, maxLength: 20, selector: ([l1]) => l1 })
  fc.assert(
    fc.property(numbers, (pairs) => {
      const entries = pairs.toSorted(([a], [b]) => a - b).map(([l1, safe]) => entry(l1, safe))
      const store = createSafeHeadStore(createMemoryTable())
      store.append(entries)
      for (const one of entries) expect(store.atOrBelow(one.l1.number)).toEqual(one)
    }),
  )
})
