import { expect, it, vi } from 'vitest'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { addressOf, busyBlocks, expectSame, lookedThrough, randomBlocks, searched, wishes, write } from '#test/harness/store/searchedLogs'
import type { WantedLogs } from '#types/logMatcher'
import { fillLogIndex, planLogPruning, pruneLogIndex, readIndexMark, readLogsPruned, unindexLogs } from './logIndex.ts'
import { blockRows, deleteBlock, type IndexedBlock, readBlock } from './logIndexRows.ts'
import { searchLogIndex } from './logSearch.ts'

it('blockchain/logIndex/logIndex: finds the transactions that a search of all logs finds, in segments and in the newest blocks', () => {
  const kv = createMemoryKv()
  const blocks = randomBlocks(1, 1_500)
  write(kv, blocks)
  expectSame(kv, blocks)
})

it('blockchain/logIndex/logIndex: names few transactions without a matching log', () => {
  const kv = createMemoryKv()
  const blocks = randomBlocks(2, 1_200)
  write(kv, blocks)
  const wanted = { addresses: [addressOf(3)], topics: [] }
  expect(searched(kv, blocks, wanted, 0, 1_199)?.others).toBe(0)
})

it('blockchain/logIndex/logIndex: removes unwound blocks, also those that had become part of a segment', () => {
  const kv = createMemoryKv()
  const old = randomBlocks(3, 1_100)
  write(kv, old)
  kv.write((tx) => {
    for (let number = 1_099; number >= 1_010; number--) unindexLogs(tx, number)
  })
  const blocks = [...old.slice(0, 1_010), ...randomBlocks(4, 60)]
  write(kv, blocks, 1_010)
  expectSame(kv, blocks)
})

it('blockchain/logIndex/logIndex: indexes blocks of an earlier version in the background, newest first, while there is time', () => {
  const kv = createMemoryKv()
  const blocks = randomBlocks(5, 300)
  write(kv, blocks, 200)
  expect(searched(kv, blocks, wishes[0] as WantedLogs, 150, 299)).toBeUndefined()
  let steps = 0
  const fill = (most: number): void => {
    let left = most
    kv.write((tx) =>
      fillLogIndex(
        tx,
        (number) => blocks[number],
        () => left-- > 0,
      ),
    )
    steps++
  }
  fill(70)
  using reader = kv.snapshot()
  expect(readIndexMark(reader)?.from).toBe(130)
  while (steps < 4) fill(70)
  expectSame(kv, blocks)
  kv.write((tx) => {
    for (let number = 299; number >= 90; number--) unindexLogs(tx, number)
  })
  write(kv, blocks, 90)
  expectSame(kv, blocks)
})

it('blockchain/logIndex/logIndex: begins again when an unwind goes below its first block', () => {
  const kv = createMemoryKv()
  const blocks = randomBlocks(6, 40)
  write(kv, blocks.slice(0, 30), 20)
  kv.write((tx) => {
    for (let number = 29; number >= 15; number--) unindexLogs(tx, number)
  })
  write(kv, blocks, 15)
  expect(searched(kv, blocks, wishes[0] as WantedLogs, 10, 39)).toBeUndefined()
  expect(searched(kv, blocks, wishes[0] as WantedLogs, 15, 39)?.found).toEqual(lookedThrough(blocks, wishes[0] as WantedLogs, 15, 39))
})

it('blockchain/logIndex/logIndex: removes whole segments before a number in steps, and finds the logs of the others', () => {
  const kv = createMemoryKv()
  const blocks = randomBlocks(8, 2_500)
  write(kv, blocks)
  const prune = (before: number): number => {
    let steps = 0
    for (;;) {
      const plan = read((reader) => planLogPruning(reader, before, 4))
      if (plan === undefined) return steps
      expect(plan.keys.length).toBeLessThanOrEqual(4)
      kv.write((tx) => pruneLogIndex(tx, plan))
      steps++
    }
  }
  const read = <T>(use: (reader: ReturnType<Kv['snapshot']>) => T): T => {
    using reader = kv.snapshot()
    return use(reader)
  }
  expect(prune(1_000)).toBe(0)
  expect(prune(1_024)).toBeGreaterThan(1)
  expect(read(readLogsPruned)).toBe(1_024)
  for (const wanted of wishes) {
    expect(searched(kv, blocks, wanted, 1_024, 2_499)?.found).toEqual(lookedThrough(blocks, wanted, 1_024, 2_499))
  }
  // the blocks are not indexed again
  kv.write((tx) =>
    fillLogIndex(
      tx,
      (number) => blocks[number],
      () => true,
    ),
  )
  expect(prune(1_024)).toBe(0)
  prune(2_499)
  expect(read(readLogsPruned)).toBe(2_048)
  for (const wanted of wishes) {
    expect(searched(kv, blocks, wanted, 2_048, 2_499)?.found).toEqual(lookedThrough(blocks, wanted, 2_048, 2_499))
  }
})

it('blockchain/logIndex/logIndex: blocks whose removal has begun count as not indexed: a search that began before continues in them', () => {
  const kv = createMemoryKv()
  write(kv, randomBlocks(9, 2_500))
  using before = kv.snapshot()
  const plan = planLogPruning(before, 1_024, 4)
  // four pages of many; the rows that name them stay
  kv.write((tx) => plan && pruneLogIndex(tx, plan))
  using reader = kv.snapshot()
  const wanted = wishes[0] as WantedLogs
  expect(searchLogIndex(reader, wanted, 0, 2_499)).toEqual({ kind: 'unindexed', next: 1_024 })
  expect(searchLogIndex(reader, wanted, 200, 500)).toEqual({ kind: 'unindexed', next: 501 })
  expect(searchLogIndex(reader, wanted, 1_024, 2_499).kind).toBe('found')
})

it('blockchain/logIndex/logIndex: reads of a common value only the pages of the blocks that it searches', () => {
  const kv = createMemoryKv()
  const logs = [{ address: addressOf(1), topics: [], data: new Uint8Array(0) }]
  const blocks = Array.from({ length: 1_024 }, () => Array.from({ length: 10 }, () => logs))
  write(kv, blocks)
  using reader = kv.snapshot()
  const look = vi.spyOn(reader, 'look')
  const { range } = reader
  let pages = 0
  vi.spyOn(reader, 'range').mockImplementation(function* (...args) {
    for (const row of range.apply(reader, args)) {
      if (row.key[0] === 0) pages++
      yield row
    }
  })
  const wanted = { addresses: [addressOf(1)], topics: [] }
  const search = searchLogIndex(reader, wanted, 500, 509)
  const all = Array.from({ length: 10 }, (_, at) => at)
  expect(search).toEqual({ kind: 'found', places: all.map((at) => ({ number: 500 + at, transactions: all })), next: 510 })
  // of 42 pages; the mark is read otherwise, block ends are read twice
  expect(pages).toBe(1)
  expect(look.mock.calls.filter(([table]) => table === tables.logIndex.id)).toHaveLength(2)
})

it('blockchain/logIndex/logIndex: finds the same in blocks with many logs, whose entries are in slices, and unwinds them', () => {
  const kv = createMemoryKv()
  const blocks = busyBlocks(6, 40)
  write(kv, blocks)
  expectSame(kv, blocks)
  kv.write((tx) => {
    for (let number = 39; number >= 20; number--) unindexLogs(tx, number)
  })
  const others = [...blocks.slice(0, 20), ...busyBlocks(7, 3), ...randomBlocks(8, 3)]
  write(kv, others, 20)
  expectSame(kv, others)
})

it('blockchain/logIndex/logIndex: reads one slice of a block with many logs for each value', () => {
  const kv = createMemoryKv()
  const blocks = busyBlocks(9, 1)
  write(kv, blocks)
  using reader = kv.snapshot()
  expect([...reader.keys(tables.logIndex.id, {})].length).toBeGreaterThanOrEqual(1 + 2)
  const look = vi.spyOn(reader, 'look')
  expect(searchLogIndex(reader, { addresses: [addressOf(1)], topics: [] }, 0, 0)).toMatchObject({ kind: 'found', next: 1 })
  expect(look.mock.calls.filter(([table]) => table === tables.logIndex.id)).toHaveLength(1)
})

it('blockchain/logIndex/logIndex: finds the same in large blocks that schema 11 wrote as one row, and joins and unwinds them', () => {
  const kv = createMemoryKv()
  const blocks = busyBlocks(10, 40)
  write(kv, blocks.slice(0, 3))
  kv.write((tx) => {
    for (let number = 0; number < 3; number++) {
      const block = readBlock(tx, number)
      deleteBlock(tx, number)
      for (const { key, value } of blockRows(number, block as IndexedBlock, 0)) tx.put(tables.logIndex.id, key, value)
    }
  })
  expectSame(kv, blocks.slice(0, 3))
  kv.write((tx) => unindexLogs(tx, 2))
  write(kv, blocks, 2)
  expectSame(kv, blocks)
})

it('blockchain/logIndex/logIndex: a search fails when a slice of a block is missing', () => {
  const kv = createMemoryKv()
  write(kv, busyBlocks(11, 1))
  kv.write((tx) => {
    for (const key of [...tx.keys(tables.logIndex.id, {})].filter(({ length }) => length === 10)) tx.delete(tables.logIndex.id, key)
  })
  using reader = kv.snapshot()
  expect(() => searchLogIndex(reader, { addresses: [addressOf(1)], topics: [] }, 0, 0)).toThrow(
    /^log index: slice \d+ of block 0 is missing$/,
  )
})
