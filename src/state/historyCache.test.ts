import { expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { CacheSet } from '#lib/caches'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { type Hash, hashFromBytes } from '#types/ids'
import { type CommittedBlocks, createHistoryCaches, HistoryCache, type RowSpan } from './historyCache.ts'
import { accountsTable, changeKey, changesTable, encodeChange } from './rows.ts'

/** Reads of one state after which the next block's changes are loaded. */
const readsBeforeLoading = 256

function caching(bytes: number) {
  const set = new CacheSet({ history: bytes })
  const caches = createHistoryCaches((share) => set.lru('history', share))
  return { set, snapshot: (blocks?: CommittedBlocks) => new HistoryCache(caches, blocks) }
}

const rowOf = (byte: number, low = 1, high = 9): RowSpan => ({ low, high, row: Uint8Array.of(byte) })

it('state/historyCache: the snapshots of a thread share its bytes, and have no values of each other', () => {
  const { set, snapshot } = caching(10_000)
  const [one, other] = [snapshot(), snapshot()]
  expect(one.rowAt('place', 1, () => rowOf(1))).toEqual(Uint8Array.of(1))
  expect(other.rowAt('place', 1, () => rowOf(2))).toEqual(Uint8Array.of(2))
  expect(one.rowAt('place', 1, () => expect.unreachable())).toEqual(Uint8Array.of(1))
  expect(other.row(1, () => Uint8Array.of(3))).toEqual(Uint8Array.of(3))
  expect(one.row(1, () => Uint8Array.of(4))).toEqual(Uint8Array.of(4))
  expect(other.row(1, () => expect.unreachable())).toEqual(Uint8Array.of(3))
  for (let i = 0; i < 100; i++) {
    const cache = snapshot()
    cache.rowAt('place', 1, () => rowOf(1))
    cache.row(1, () => new Uint8Array(500))
  }
  const { sizeBytes, maxBytes } = set.facts().history ?? expect.fail()
  expect(maxBytes).toBe(10_000)
  expect(sizeBytes).toBeGreaterThan(3_000)
  expect(sizeBytes).toBeLessThanOrEqual(maxBytes)
})

/** Committed blocks up to a number on a branch, which begins with a block. */
function blocksTo(head: number, branch = 0, from = 0): CommittedBlocks {
  const hashAt = (number: number): Hash => hashFromBytes(new Uint8Array(32).fill(number >= from ? branch : 0, 0, 8).fill(number, 8))
  return { head: { number: head, hash: hashAt(head) }, hashAt }
}

it('state/historyCache: snapshots of a chain that grows have node changes of each other, and no values', () => {
  const { snapshot } = caching(10_000)
  const [one, other] = [snapshot(blocksTo(7)), snapshot(blocksTo(9))]
  one.row(1, () => Uint8Array.of(3))
  one.segmentIndex(0, () => Uint8Array.of(4))
  one.rowAt('place', 1, () => rowOf(1))
  expect(other.row(1, () => expect.unreachable())).toEqual(Uint8Array.of(3))
  expect(other.segmentIndex(0, () => expect.unreachable())).toEqual(Uint8Array.of(4))
  // rows of a partial state are added without a new block
  expect(other.rowAt('place', 1, () => rowOf(2))).toEqual(Uint8Array.of(2))
  // an index after 1,000 reads, of all snapshots together
  const indexOf = (cache: HistoryCache, reads: number): unknown =>
    Array.from({ length: reads }, () => cache.groupIndex(0, () => Uint8Array.of(5))).at(-1)
  expect([indexOf(one, 700), indexOf(other, 300), indexOf(other, 1)]).toEqual([undefined, undefined, Uint8Array.of(5)])
})

it('state/historyCache: snapshots on both sides of a reorg, and one older than the last, have no node changes of each other', () => {
  const { snapshot } = caching(10_000)
  const older = snapshot(blocksTo(6))
  const readIn = (blocks: CommittedBlocks, byte: number): number | undefined => snapshot(blocks).row(1, () => Uint8Array.of(byte))[0]
  expect([readIn(blocksTo(7), 1), readIn(blocksTo(8), 2)]).toEqual([1, 1])
  // blocks 8 and up are replaced by a branch of the same length, and then by a longer one
  expect([readIn(blocksTo(8, 1, 8), 3), readIn(blocksTo(9, 2, 8), 4), readIn(blocksTo(9, 2, 8), 5)]).toEqual([3, 4, 4])
  expect(older.row(1, () => Uint8Array.of(6))).toEqual(Uint8Array.of(6))
  expect(readIn(blocksTo(10, 2, 8), 7)).toBe(4)
})

it('state/historyCache: snapshots of a chain that became shorter have node changes of each other at once, and none of those before', () => {
  const { snapshot } = caching(10_000)
  const readIn = (blocks: CommittedBlocks, byte: number): number | undefined => snapshot(blocks).row(6, () => Uint8Array.of(byte))[0]
  const late = snapshot(blocksTo(8))
  expect(readIn(blocksTo(9), 1)).toBe(1)
  expect([readIn(blocksTo(6), 2), readIn(blocksTo(6), 3), readIn(blocksTo(7, 3, 7), 4), readIn(blocksTo(8, 3, 7), 5)]).toEqual([2, 2, 2, 2])
  // an older snapshot of the longer chain is read late
  expect(late.row(6, () => Uint8Array.of(6))).toEqual(Uint8Array.of(6))
  expect([readIn(blocksTo(8, 3, 7), 7), readIn(blocksTo(9, 3, 7), 8)]).toEqual([7, 7])
})

it('state/historyCache: reads each value of a row once, in whatever order its blocks are read', () => {
  // changed in blocks 3, 4, 9 and 200 to 300; without a row between 4 and 9
  const changes = [3, 4, 9, ...Array.from({ length: 101 }, (_, i) => 200 + i)]
  const valueAfter = (number: number): Uint8Array | undefined => {
    const last = changes.findLast((change) => change <= number) ?? 0
    return last === 4 ? undefined : Uint8Array.of(last % 256)
  }
  const cache = caching(100_000).snapshot()
  let reads = 0
  const read = (number: number): Uint8Array | undefined =>
    cache.rowAt('place', number, () => {
      reads++
      return { low: number, high: changes.find((change) => change > number) ?? Number.POSITIVE_INFINITY, row: valueAfter(number) }
    })
  const blocks = [5, 150, 0, 9, 8, 2, 3, 4, 120, 20, 199, 10, 1]
  for (const number of blocks) expect(read(number), `block ${number}`).toEqual(valueAfter(number))
  const first = reads
  for (const number of [0, 1, 2, 3, 4, 5, 6, 8, 9, 77, 199]) expect(read(number), `block ${number} again`).toEqual(valueAfter(number))
  expect([first, reads]).toEqual([6, 6])
  for (const number of [...Array.from({ length: 320 }, (_, i) => (i * 7) % 320)]) {
    expect(read(number), `block ${number}`).toEqual(valueAfter(number))
  }
})

it('state/historyCache: loads the changes of a block after many reads, unless they take more than half of the bytes for them', () => {
  const kv = createMemoryKv()
  kv.write((tx) => {
    for (let i = 0; i < 20; i++) tx.put(changesTable, changeKey(8, accountsTable, u64Bytes(i)), encodeChange(u64Bytes(i), false))
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
  expect([loadedWith(60_000), loadedWith(30_000), loadedWith(60_000, 0.25), loadedWith(60_000, 0)]).toEqual([true, false, false, false])
})
