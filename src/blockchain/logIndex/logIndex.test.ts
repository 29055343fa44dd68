import { expect, it } from 'vitest'
import type { Kv } from '#store/ports'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'
import type { WantedLogs } from '#types/logMatcher'
import { fillLogIndex, indexLogs, planLogPruning, pruneLogIndex, readIndexMark, readLogsPruned, unindexLogs } from './logIndex.ts'
import { searchLogIndex } from './logSearch.ts'

const address = (value: number): Address => parseAddress(`0x${value.toString(16).padStart(40, '0')}`)
const topic = (value: number): Hash => parseHash(`0x${value.toString(16).padStart(64, '0')}`)

/** Logs of a block by transaction. */
type BlockLogs = readonly (readonly Log[])[]

function randomBlocks(seed: number, count: number): BlockLogs[] {
  const below = dice(seed)
  const log = (): Log => ({
    address: address(below(5)),
    topics: Array.from({ length: below(4) }, (_, at) => topic(at === 0 ? below(3) : below(40))),
    data: new Uint8Array(0),
  })
  return Array.from({ length: count }, () => Array.from({ length: below(3) }, () => Array.from({ length: below(3) }, log)))
}

const oneOf = (values: readonly string[], value: string | undefined): boolean => values.length === 0 || values.includes(value ?? '')
const matches = ({ addresses, topics }: WantedLogs, log: Log): boolean =>
  oneOf(addresses, log.address) && topics.every((values, at) => oneOf(values, log.topics[at]))

/** Returns the transactions with a matching log, as `number/index`, by reading every log. */
function lookedThrough(blocks: readonly BlockLogs[], wanted: WantedLogs, from: number, to: number): string[] {
  return blocks
    .slice(0, to + 1)
    .flatMap((block, number) =>
      block.flatMap((logs, index) => (number >= from && logs.some((log) => matches(wanted, log)) ? [`${number}/${index}`] : [])),
    )
}

/** Returns the same by the index, after comparing the logs; `others`: candidates without a matching log. */
function searched(kv: Kv, blocks: readonly BlockLogs[], wanted: WantedLogs, from: number, to: number) {
  using reader = kv.snapshot()
  const found: string[] = []
  let others = 0
  for (let number = from; number <= to; ) {
    const search = searchLogIndex(reader, wanted, number, to)
    if (search.kind === 'unindexed') return undefined
    for (const place of search.places) {
      for (const index of place.transactions) {
        if (blocks[place.number]?.[index]?.some((log) => matches(wanted, log))) found.push(`${place.number}/${index}`)
        else others++
      }
    }
    expect(search.next).toBeGreaterThan(number)
    number = search.next
  }
  return { found, others }
}

const wishes: readonly WantedLogs[] = [
  { addresses: [address(1)], topics: [] },
  { addresses: [address(1), address(4)], topics: [[topic(1)]] },
  { addresses: [], topics: [[], [topic(7)]] },
  { addresses: [address(2)], topics: [[topic(0), topic(2)], [], [topic(9), topic(10)]] },
  { addresses: [address(99)], topics: [] },
]

function expectSame(kv: Kv, blocks: readonly BlockLogs[]): void {
  const last = blocks.length - 1
  for (const wanted of wishes) {
    for (const [from, to] of [
      [0, last],
      [0, 0],
      [last, last],
      [Math.floor(last / 3), Math.floor(last / 2)],
      [1_000, 1_030],
    ] as const) {
      if (to > last) continue
      expect(searched(kv, blocks, wanted, from, to)?.found).toEqual(lookedThrough(blocks, wanted, from, to))
    }
  }
}

const write = (kv: Kv, blocks: readonly BlockLogs[], from = 0): void =>
  kv.write((tx) => {
    for (const [at, block] of blocks.slice(from).entries()) indexLogs(tx, from + at, block)
  })

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
  const wanted = { addresses: [address(3)], topics: [] }
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
