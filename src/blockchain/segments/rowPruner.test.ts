import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { openChainKv, openForeignChainReader, segmentsDir } from '#store/chainTables'
import type { KvReader } from '#store/ports'
import { readMoved, segmentsOf } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { createManualClock } from '#test/harness/clock'
import {
  blocks,
  differencesOf,
  fileOf,
  genesis,
  grow,
  keptLog,
  killed,
  lostPlaces,
  moverOn,
  seen,
  store,
} from '#test/harness/store/movingStore'
import type { ChainDistance } from '#types/chainDistance'
import { putHeads, readBlock, readHeads, readLocation } from '../chainStore.ts'
import { commitGenesis } from '../commit/commit.ts'
import { oldestRows, RowPruner, type RowRetention } from './rowPruner.ts'
import type { MoverStep } from './segmentMover.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-row-pruner-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

it('blockchain/segments/rowPruner: removes files and places of transactions that are not retained, also when the retention changes at a start', async () => {
  const dir = newDir()
  const before: unknown[] = []
  {
    await using kv = store(dir)
    before.push(...seen(kv))
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  await using kv = openChainKv(dir)
  const rows: RowRetention = { bodies: { blocks: 25 }, receipts: { blocks: 15 }, logs: 'all' }
  const { run, settle, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  await settle()
  const names = readdirSync(segmentsDir(dir))
  expect(names.map((name) => name.replace(/-[0-9a-f]{64}/, '')).sort()).toEqual([
    ...['bodies-000000000010.seg', 'bodies-000000000020.seg', 'headers-000000000000.seg', 'headers-000000000010.seg'],
    ...['headers-000000000020.seg', 'receipts-000000000020.seg'],
  ])
  using reader = kv.snapshot()
  const after = seen(kv) as { block: unknown; receipts: unknown; header: unknown }[]
  for (const [number, found] of after.entries()) {
    const was = before[number] as typeof found
    expect(found.header).toEqual(was.header)
    expect(found.block).toEqual(number < 10 ? undefined : was.block)
    expect(found.receipts).toEqual(number < 20 ? undefined : was.receipts)
    for (const { hash } of blocks[number - 1]?.executed ?? []) {
      expect(readLocation(reader, hash)).toEqual(number < 10 ? undefined : expect.objectContaining({ number }))
    }
  }
})

it('blockchain/segments/rowPruner: keeps the least of the bodies when a shorter retention is given', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const rows: RowRetention = { bodies: { blocks: 5 }, receipts: { blocks: 5 }, logs: 'all', leastBodies: { blocks: 25 } }
  const { run, settle, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  await settle()
  using reader = kv.snapshot()
  const firstOf = (table: number) => [...segmentsOf(reader, table)].map(({ first }) => first)[0]
  expect([firstOf(tables.bodies.id), firstOf(tables.receipts.id)]).toEqual([10, undefined])
})

it('blockchain/segments/rowPruner: counts the least of the bodies back from the finalized block, however far the head is above it', async () => {
  await using kv = store(newDir())
  kv.write((tx) => {
    const heads = readHeads(tx) ?? expect.fail()
    const finalized = { number: 20, hash: blocks[19]?.hash ?? expect.fail() }
    putHeads(tx, { ...heads, safe: finalized, finalized }, 41)
  })
  using reader = kv.snapshot()
  const bodiesOf = (leastBodies?: ChainDistance) =>
    oldestRows(reader, { bodies: { blocks: 5 }, receipts: 'all', logs: 'all', ...(leastBodies && { leastBodies }) }).bodies
  // blocks are two seconds apart
  expect([bodiesOf(), bodiesOf({ blocks: 8 }), bodiesOf({ sec: 10 }), bodiesOf({ blocks: 30 })]).toEqual([20, 12, 15, 0])
})

it('blockchain/segments/rowPruner: a damaged file of bodies is removed like others, with one warning, and moving goes on', async () => {
  const dir = newDir()
  {
    await using kv = store(dir)
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 4; times++) await run()
  }
  truncateSync(fileOf(dir, 'bodies', 0), 300)
  await using kv = openChainKv(dir)
  const { log, lines } = keptLog()
  const rows: RowRetention = { bodies: { blocks: 15 }, receipts: 'all', logs: 'all' }
  const { run, mover } = moverOn(dir, kv, { rows, log })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', error: expect.objectContaining({ code: 'SEGMENT_DAMAGED' }) })])
  using reader = kv.snapshot()
  expect([...segmentsOf(reader, tables.bodies.id)].map(({ first }) => first)).toEqual([20])
  expect(readMoved(reader)).toBe(30)
  expect(differencesOf(kv)).toEqual([])
  expect(blocks.slice(0, 30).map(({ executed }) => executed.every(({ hash }) => !readLocation(reader, hash)))).toEqual(
    Array.from({ length: 30 }, (_, at) => at >= 9 && at < 19),
  )
})

it('blockchain/segments/rowPruner: a step removes as many places as its limit, and reads one block when there is no time', async () => {
  const dir = newDir()
  await using kv = store(dir)
  {
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  const retention: RowRetention = { bodies: { blocks: 15 }, receipts: 'all', logs: 'all' }
  const pruner = new RowPruner({
    kv,
    clock: createManualClock(),
    log: silentLog,
    dir: segmentsDir(dir),
    retention,
  })
  const rowsOf = (rows: number, hasTime: boolean) => pruner.step({ rowsIn: () => rows, hasTime: () => hasTime })?.rows
  // the mark, and the genesis block, which has no transactions
  expect([rowsOf(100, false), rowsOf(100, false)]).toEqual([0, 0])
  expect([rowsOf(100, false), rowsOf(1, true), rowsOf(1, true), rowsOf(3, true)]).toEqual([2, 1, 1, 3])
  for (let steps = 0; steps < 20; steps++) rowsOf(3, true)
  using reader = kv.snapshot()
  const placed = blocks.filter(({ executed }) => executed.some(({ hash }) => readLocation(reader, hash)))
  expect(placed.map(({ header }) => header.number)).toEqual(Array.from({ length: 21 }, (_, at) => at + 20))
})

it('blockchain/segments/rowPruner: readers of earlier snapshots read removed rows for a minute, in which they get new ones', async () => {
  const dir = newDir()
  await using kv = store(dir)
  {
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  await using source = openForeignChainReader(dir)
  using earlier = source.snapshot()
  const rows: RowRetention = { bodies: { blocks: 15 }, receipts: 'all', logs: 'all' }
  const removed = { unrecorded: 0, files: 0 }
  const onStep = ({ unrecorded, files }: MoverStep): void => {
    removed.unrecorded += unrecorded
    removed.files += files
  }
  const { run, clock, mover } = moverOn(dir, kv, { rows, onStep })
  await using _mover = mover
  await run()
  const read = (reader: KvReader) =>
    blocks.slice(0, 19).map(({ hash, header: { number } }) => readBlock(reader, { number, hash })?.header.number)
  const count = (): number => readdirSync(segmentsDir(dir)).filter((name) => name.startsWith('bodies')).length
  using later = kv.snapshot()
  expect(read(later)).toEqual(Array.from({ length: 19 }, () => undefined))
  expect(removed).toEqual({ unrecorded: 4, files: 0 })
  await clock.advanceMs(57_000)
  expect(read(earlier)).toEqual(Array.from({ length: 19 }, (_, at) => at + 1))
  expect(count()).toBe(3)
  // no transaction of blocks follows
  await clock.advanceMs(3_000)
  expect([count(), removed.files, clock.waiting]).toEqual([1, 4, 0])
})

it('blockchain/segments/rowPruner: on a disk with less room than required, files that are not retained are removed at a start, and no block is moved', async () => {
  const dir = newDir()
  await using kv = openChainKv(dir)
  kv.write((tx) => commitGenesis(tx, genesis.block))
  grow(kv, 1, 30)
  const moved = (): number => {
    using reader = kv.snapshot()
    return readMoved(reader)
  }
  {
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  // the range from block 20 on is whole now
  grow(kv, 31, 40)
  const { log, lines } = keptLog()
  const rows: RowRetention = { bodies: { blocks: 15 }, receipts: { blocks: 15 }, logs: 'all' }
  const old = (): readonly string[] => readdirSync(segmentsDir(dir)).filter((name) => /^(bodies|receipts)-/.test(name))
  expect([moved(), old().length]).toEqual([20, 4])
  const { clock, mover } = moverOn(dir, kv, { rows, log, minFreeBytes: 2 ** 52 })
  await using _mover = mover
  mover.committed()
  await clock.advanceMs(62_000)
  expect(old()).toEqual([])
  expect(moved()).toBe(20)
  const refused = expect.objectContaining({ level: 'error', willRetry: true, error: expect.objectContaining({ code: 'DISK_LOW' }) })
  expect(lines).toEqual([refused, refused])
})

it('blockchain/segments/rowPruner: after a kill between any two effects of retention a block reads whole or not at all', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = store(dir)
  const before = seen(kv)
  {
    const { run, mover } = moverOn(dir, kv)
    await using _mover = mover
    for (let times = 0; times < 6; times++) await run()
  }
  const rows: RowRetention = { bodies: { blocks: 15 }, receipts: 'all', logs: 'all' }
  const { run, mover } = moverOn(dir, kv, { rows, onEffect: () => void copies.push(killed(dir, newDir())) })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  expect(copies.length).toBeGreaterThan(4)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    const read = seen(again) as { block: unknown; receipts: unknown }[]
    for (const [number, found] of read.entries()) {
      const was = before[number] as typeof found
      expect([undefined, was.block]).toContainEqual(found.block)
      if (number >= 20) expect(found).toEqual(was)
    }
    expect(lostPlaces(again)).toEqual([])
    expect(differencesOf(again)).toEqual([])
    const next = moverOn(copy, again, { rows })
    await using _next = next.mover
    for (let times = 0; times < 4; times++) await next.run()
    await next.settle()
    expect(readdirSync(segmentsDir(copy)).filter((name) => name.startsWith('bodies'))).toHaveLength(1)
  }
}, 60_000)

it('blockchain/segments/rowPruner: a removal that a kill has interrupted is completed also when the next start retains everything', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const { run, mover } = moverOn(dir, kv)
  for (let times = 0; times < 6; times++) await run()
  await mover[Symbol.asyncDispose]()
  const rows: RowRetention = { bodies: { blocks: 25 }, receipts: 'all', logs: 'all' }
  const pruner = new RowPruner({
    kv,
    clock: createManualClock(),
    log: silentLog,
    dir: segmentsDir(dir),
    retention: rows,
  })
  // the mark, and the places of some blocks
  const limits = { rowsIn: () => 3, hasTime: () => true }
  pruner.step(limits)
  pruner.step(limits)
  expect(lostPlaces(kv)).toEqual([])
  expect(differencesOf(kv)).toEqual([])
  const next = moverOn(dir, kv)
  await using _next = next.mover
  for (let times = 0; times < 4; times++) await next.run()
  await next.settle()
  expect(readdirSync(segmentsDir(dir)).filter((name) => name.startsWith('bodies-000000000000'))).toEqual([])
  expect(differencesOf(kv)).toEqual([])
})
