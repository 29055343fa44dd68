import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { CacheSet } from '#lib/caches'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createHistoryCaches, HistoryCache } from './historyCache.ts'
import { accountsTable, changeKey, changesTable, encodeBefore } from './rows.ts'

/** Reads of one state after which the next block's changes are loaded. */
const readsBeforeLoading = 256

function caching(bytes: number) {
  const set = new CacheSet({ history: bytes })
  const caches = createHistoryCaches((share) => set.lru('history', share))
  return { set, snapshot: () => new HistoryCache(caches) }
}

const chunkOf = (byte: number) => ({ low: 1, high: 9, numbers: new Uint8Array(8).fill(byte) })

it('state/historyCache: the snapshots of a thread share its bytes, and have no values of each other', () => {
  const { set, snapshot } = caching(10_000)
  const prefix = u64Bytes(1)
  const [one, other] = [snapshot(), snapshot()]
  expect(one.chunk(prefix, 1, () => chunkOf(1))[0]).toBe(1)
  expect(other.chunk(prefix, 1, () => chunkOf(2))[0]).toBe(2)
  expect(one.chunk(prefix, 1, () => expect.unreachable())[0]).toBe(1)
  expect(other.row(1, () => Uint8Array.of(3))).toEqual(Uint8Array.of(3))
  expect(one.row(1, () => Uint8Array.of(4))).toEqual(Uint8Array.of(4))
  expect(other.row(1, () => expect.unreachable())).toEqual(Uint8Array.of(3))
  for (let i = 0; i < 100; i++) {
    const cache = snapshot()
    cache.chunk(prefix, 1, () => chunkOf(1))
    cache.row(1, () => new Uint8Array(500))
  }
  const { sizeBytes, maxBytes } = set.facts().history ?? expect.fail()
  expect(maxBytes).toBe(10_000)
  expect(sizeBytes).toBeGreaterThan(3_000)
  expect(sizeBytes).toBeLessThanOrEqual(maxBytes)
})

it('state/historyCache: loads the changes of a block after many reads, unless they take more than half of the bytes for them', () => {
  const kv = createMemoryKv()
  kv.write((tx) => {
    for (let i = 0; i < 20; i++) tx.put(changesTable, changeKey(8, accountsTable, u64Bytes(i)), encodeBefore(u64Bytes(i)))
  })
  using reader = kv.snapshot()
  const loadedWith = (bytes: number, share = 1): boolean => {
    const { set, snapshot } = caching(bytes)
    set.limitTo(share)
    const cache = snapshot()
    for (let read = 1; read < readsBeforeLoading; read++) expect(cache.changesAfter(reader, 7)).toBeUndefined()
    return cache.changesAfter(reader, 7)?.size === 20
  }
  // 20 rows of some 330 bytes
  expect([loadedWith(40_000), loadedWith(20_000), loadedWith(40_000, 0.25), loadedWith(40_000, 0)]).toEqual([true, false, false, false])
})
