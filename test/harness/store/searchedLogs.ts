import { expect } from 'vitest'
import { indexLogs } from '#blockchain/logIndex/logIndex'
import { searchLogIndex } from '#blockchain/logIndex/logSearch'
import type { Kv } from '#store/ports'
import { dice } from '#test/harness/dice'
import { type Address, type Hash, parseAddress, parseHash } from '#types/ids'
import type { Log } from '#types/log'
import type { WantedLogs } from '#types/logMatcher'

/** Address in the logs of `randomBlocks`, for values below 5. */
export const addressOf = (value: number): Address => parseAddress(`0x${value.toString(16).padStart(40, '0')}`)
const topic = (value: number): Hash => parseHash(`0x${value.toString(16).padStart(64, '0')}`)

/** Logs of a block by transaction. */
type BlockLogs = readonly (readonly Log[])[]

/** Returns blocks with few different logs. */
export function randomBlocks(seed: number, count: number): BlockLogs[] {
  const below = dice(seed)
  const log = (): Log => ({
    address: addressOf(below(5)),
    topics: Array.from({ length: below(4) }, (_, at) => topic(at === 0 ? below(3) : below(40))),
    data: new Uint8Array(0),
  })
  return Array.from({ length: count }, () => Array.from({ length: below(3) }, () => Array.from({ length: below(3) }, log)))
}

/** Returns blocks of many logs, most of which have topics of their own. */
export function busyBlocks(seed: number, count: number): BlockLogs[] {
  const below = dice(seed)
  const log = (): Log => ({
    address: addressOf(below(5)),
    topics: [topic(below(3)), topic(below(1_000_000)), topic(below(50))],
    data: new Uint8Array(0),
  })
  return Array.from({ length: count }, () => Array.from({ length: 300 + below(1_500) }, () => [log(), log()]))
}

const oneOf = (values: readonly string[], value: string | undefined): boolean => values.length === 0 || values.includes(value ?? '')
const matches = ({ addresses, topics }: WantedLogs, log: Log): boolean =>
  oneOf(addresses, log.address) && topics.every((values, at) => oneOf(values, log.topics[at]))

/** Returns the transactions with a matching log, as `number/index`, by reading every log. */
export function lookedThrough(blocks: readonly BlockLogs[], wanted: WantedLogs, from: number, to: number): string[] {
  return blocks
    .slice(0, to + 1)
    .flatMap((block, number) =>
      block.flatMap((logs, index) => (number >= from && logs.some((log) => matches(wanted, log)) ? [`${number}/${index}`] : [])),
    )
}

/** Returns the same by the index, after comparing the logs; `others`: candidates without a matching log. */
export function searched(kv: Kv, blocks: readonly BlockLogs[], wanted: WantedLogs, from: number, to: number) {
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

export const wishes: readonly WantedLogs[] = [
  { addresses: [addressOf(1)], topics: [] },
  { addresses: [addressOf(1), addressOf(4)], topics: [[topic(1)]] },
  { addresses: [], topics: [[], [topic(7)]] },
  { addresses: [addressOf(2)], topics: [[topic(0), topic(2)], [], [topic(9), topic(10)]] },
  { addresses: [addressOf(99)], topics: [] },
]

/** Compares searches of the index with searches of all logs. */
export function expectSame(kv: Kv, blocks: readonly BlockLogs[]): void {
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

export const write = (kv: Kv, blocks: readonly BlockLogs[], from = 0): void =>
  kv.write((tx) => {
    for (const [at, block] of blocks.slice(from).entries()) indexLogs(tx, from + at, block)
  })
