import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { L1CacheEntry, L1CacheKind } from '#l1/cache'
import { createLog, silentLog } from '#lib/log'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { consensusTables } from '#store/tables'
import { hashOf } from '#test/harness/chain/blocks'
import { createManualClock } from '#test/harness/clock'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { L1CacheTable } from './l1CacheTable.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-l1-cache-'))
afterAll(() => rmSync(base, { recursive: true }))
const table = consensusTables.l1Cache.id
const entry = (kind: L1CacheKind, number: number, name: string, size = 100): L1CacheEntry => {
  return { kind, number, hash: hashOf(name), bytes: new Uint8Array(size).fill(name.length) }
}
function cacheOf(kv: Kv, maxBytes = 10_000) {
  const clock = createManualClock()
  return { clock, cache: new L1CacheTable({ kv, clock, log: silentLog }, { table, maxBytes }) }
}

describe.each([
  ['memory', () => createMemoryKv()],
  ['lmdb', () => openLmdbKv(join(base, 'a'), Object.values(consensusTables))],
])('node/storage/l1CacheTable over %s', (_kind, open) => {
  it('returns kept entries at once, and after a restart', async () => {
    await using kv = open()
    const { clock, cache } = cacheOf(kv)
    const [block, blob] = [entry('block', 7, 'block seven'), entry('blob', 7, 'its blob')]
    for (const one of [block, blob]) cache.keep(one)
    expect(cache.read('block', block.hash)).toEqual(block.bytes)
    await clock.advanceMs(300)
    const { cache: later } = cacheOf(kv)
    expect(later.hashAt(7)).toBe(block.hash)
    expect(later.read('block', block.hash)).toEqual(block.bytes)
    expect(later.read('blob', blob.hash)).toEqual(blob.bytes)
    expect(later.read('blob', block.hash)).toBeUndefined()
    expect(later.sizeBytes).toBe(200)
    later.drop('blob', blob.hash)
    later.drop('block', block.hash)
    expect([later.read('blob', blob.hash), later.hashAt(7), later.sizeBytes]).toEqual([undefined, undefined, 0])
    later[Symbol.dispose]()
    expect(cacheOf(kv).cache.sizeBytes).toBe(0)
  })

  it('evicts the lowest L1 numbers above its bound, in whatever order they were kept', async () => {
    await using kv = open()
    const { clock, cache } = cacheOf(kv, 1_000)
    for (const number of [5, 3, 12, 4, 11, 10, 9, 8, 7, 6, 1, 2, 13]) cache.keep(entry('block', number, `block ${number}`))
    await clock.advanceMs(300)
    const numbers = (of: L1CacheTable) => Array.from({ length: 15 }, (_, n) => n).filter((n) => of.hashAt(n))
    expect(numbers(cache)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    cache.keep(entry('blob', 14, 'a large blob', 450))
    cache.keep(entry('blob', 14, 'more than there is room for', 1_001))
    await clock.advanceMs(300)
    expect(cache.sizeBytes).toBe(950)
    expect(numbers(cache)).toEqual([9, 10, 11, 12, 13])
    expect(numbers(cacheOf(kv).cache)).toEqual([9, 10, 11, 12, 13])
    for (const number of [9, 10, 11, 12, 13]) cache.drop('block', hashOf(`block ${number}`))
    cache.drop('blob', hashOf('a large blob'))
    cache[Symbol.dispose]()
  })

  it('has the block kept last at a number after a reorg, also after a restart', async () => {
    await using kv = open()
    const { clock, cache } = cacheOf(kv)
    cache.keep(entry('block', 5, 'old'))
    await clock.advanceMs(300)
    cache.keep(entry('block', 5, 'new'))
    cache.keep(entry('block', 6, 'old, not written'))
    cache.keep(entry('block', 6, 'new'.repeat(2)))
    expect([cache.hashAt(5), cache.hashAt(6)]).toEqual([hashOf('new'), hashOf('newnew')])
    cache[Symbol.dispose]()
    const { cache: later } = cacheOf(kv)
    expect([later.hashAt(5), later.hashAt(6)]).toEqual([hashOf('new'), hashOf('newnew')])
    expect(later.read('block', hashOf('old'))).toBeUndefined()
    expect(later.sizeBytes).toBe(200)
  })
})

it('node/storage/l1CacheTable: loses the cache, not the node, when the store refuses a write, and retries later', async () => {
  await using kv = createMemoryKv()
  let isFull = true
  const refusing: Kv = {
    write(run) {
      if (isFull) throw new Error('no space left')
      return kv.write(run)
    },
    snapshot: () => kv.snapshot(),
    freeBytes: () => Number.POSITIVE_INFINITY,
    [Symbol.asyncDispose]: async () => {},
  }
  const lines: string[] = []
  const clock = createManualClock()
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const cache = new L1CacheTable({ kv: refusing, clock, log }, { table, maxBytes: 1_000 })
  cache.keep(entry('block', 1, 'one'))
  await clock.advanceMs(300)
  expect(lines.join()).toContain('no space left')
  expect([cache.hashAt(1), cache.sizeBytes]).toEqual([undefined, 0])
  isFull = false
  cache.keep(entry('block', 1, 'one'))
  expect(cache.hashAt(1)).toBeUndefined()
  await clock.advanceMs(60_000)
  cache.keep(entry('block', 1, 'one'))
  cache[Symbol.dispose]()
  expect(cache.hashAt(1)).toBe(hashOf('one'))
})

it('node/storage/l1CacheTable: writes large amounts in several transactions', async () => {
  await using kv = createMemoryKv()
  let writes = 0
  const counting: Kv = {
    write(run) {
      writes++
      return kv.write(run)
    },
    snapshot: () => kv.snapshot(),
    freeBytes: () => Number.POSITIVE_INFINITY,
    [Symbol.asyncDispose]: async () => {},
  }
  const { clock, cache } = cacheOf(counting, 100_000_000)
  for (let i = 0; i < 10; i++) cache.keep(entry('blob', i, `blob ${i}`, 1_048_576))
  await clock.advanceMs(10_000)
  expect(writes).toBe(5)
  expect(cacheOf(kv, 100_000_000).cache.sizeBytes).toBe(10 * 1_048_576)
})

it('node/storage/l1CacheTable: keeps no more entries while 32 MiB wait to be written', async () => {
  await using kv = createMemoryKv()
  const { clock, cache } = cacheOf(kv, 100_000_000)
  for (let i = 0; i < 40; i++) cache.keep(entry('blob', i, `blob ${i}`, 1_048_576))
  expect([cache.sizeBytes, cache.read('blob', hashOf('blob 39'))]).toEqual([32 * 1_048_576, undefined])
  await clock.advanceMs(10_000)
  cache.keep(entry('blob', 39, 'blob 39', 1_048_576))
  expect(cache.sizeBytes).toBe(33 * 1_048_576)
  cache[Symbol.dispose]()
  expect(cacheOf(kv, 100_000_000).cache.sizeBytes).toBe(33 * 1_048_576)
})
