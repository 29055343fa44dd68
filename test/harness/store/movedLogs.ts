import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { checkLogIndex } from '#blockchain/check/logIndexCheck'
import { searchLogIndex } from '#blockchain/logIndex/logSearch'
import { type RowRetention, retainAllRows } from '#blockchain/segments/rowPruner'
import { toHex } from '#lib/hex'
import { segmentsDir } from '#store/chainTables'
import type { Kv, KvReader } from '#store/ports'
import { segmentsOf } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import type { Hash } from '#types/ids'
import { joinLogs } from './logRuns.ts'
import { blocks, moverOn, store } from './movingStore.ts'

const table = tables.logIndex.id

/** Opens a store with segments of four blocks in its log index: blocks 0 to 39; block 40 is single. */
export function indexedStore(dir: string): Kv {
  const kv = store(dir)
  joinLogs(kv, 4)
  return kv
}

export function read<T>(kv: Pick<Kv, 'snapshot'>, use: (reader: KvReader) => T): T {
  using reader = kv.snapshot()
  return use(reader)
}

/** Returns the blocks with a topic, as `topic: number/transaction …`, for each topic of the chain. */
export function logsIn(reader: KvReader, from = 0): string[] {
  return Array.from({ length: 7 }, (_, value) => {
    const topic = `0x${value.toString(16).padStart(64, '0')}` as Hash
    const found: string[] = []
    for (let number = from; number <= 40; ) {
      const search = searchLogIndex(reader, { addresses: [], topics: [[topic]] }, number, 40)
      if (search.kind !== 'found') expect.fail(`block ${number} is not indexed`)
      for (const place of search.places) found.push(`${place.number}/${place.transactions}`)
      number = search.next
    }
    return `${value}: ${found.join(' ')}`
  })
}

/** Returns the same by reading each receipt. */
export const allLogs = (from = 0): string[] =>
  Array.from({ length: 7 }, (_, value) => {
    const found = blocks.flatMap(({ header: { number }, executed }) =>
      executed.flatMap(({ receipt }, index) =>
        number >= from && receipt.logs.some(({ topics }) => topics[0] !== undefined && BigInt(topics[0]) === BigInt(value))
          ? [`${number}/${index}`]
          : [],
      ),
    )
    return `${value}: ${found.join(' ')}`
  })

export const logFiles = (dir: string): string[] =>
  readdirSync(segmentsDir(dir))
    .filter((name) => name.startsWith('logIndex-'))
    .sort()
export const rangesIn = (kv: Kv): number[][] => read(kv, (reader) => [...segmentsOf(reader, table)].map(({ first, last }) => [first, last]))
export const keysIn = (kv: Kv): string[] => read(kv, (reader) => [...reader.keys(table, {})].map((key) => toHex(key)))
export const differencesIn = (kv: Kv): unknown[] => {
  const found: unknown[] = []
  const watch = { hasTime: () => true, onRow() {}, report: (difference: unknown) => void found.push(difference) }
  read(kv, (reader) => checkLogIndex(reader, undefined, 40, watch))
  return found
}

export async function moveAll(dir: string, kv: Kv, rows: RowRetention = retainAllRows): Promise<void> {
  const { run, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 10; times++) await run()
}
