import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { storeFault } from '#store/faults'
import type { Kv } from '#store/ports'
import { readMoved, readPruned, segmentsOf, segmentTables } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { accountOf, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { buildChain, builtGenesis } from '#test/harness/chain/executedBlocks'
import { createManualClock } from '#test/harness/clock'
import { readBlock, readCanonicalHash, readHeader, readHeads, readLocation, readReceipts } from '../chainStore.ts'
import { checkBlocks } from '../check/blockCheck.ts'
import { commitBranch, commitGenesis } from '../commit/commit.ts'
import { buildSegments, type SegmentBounds, type SegmentBuilder } from './buildSegments.ts'
import { RowPruner, type RowRetention, retainAllRows } from './rowPruner.ts'
import { SegmentMover } from './segmentMover.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-mover-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

const bounds: SegmentBounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 3_600 }
const chain = smallChain(scheduleTo('isthmus'))
const genesis = builtGenesis(chain)
const blocks = buildChain(
  chain.config,
  genesis,
  Array.from({ length: 40 }, (_, at) => [signedBy('alice', { nonce: BigInt(at), to: accountOf(`account ${at}`), value: 1n })]),
).map(({ block }) => block)

function store(dir: string): Kv {
  const kv = openChainKv(dir)
  kv.write((tx) => commitGenesis(tx, genesis.block))
  grow(kv, 1, blocks.length)
  return kv
}

/** Commits blocks and finalizes up to five blocks below the last. */
function grow(kv: Kv, from: number, to: number): void {
  kv.write((tx) => {
    const head = readHeads(tx)?.unsafe
    if (head === undefined) expect.fail()
    const added = blocks.slice(from - 1, to)
    const idAt = (number: number) => ({ number, hash: blocks[number - 1]?.hash ?? genesis.block.hash })
    const [unsafe, finalized] = [idAt(to), idAt(Math.max(0, to - 5))]
    commitBranch(tx, head, { ancestor: head, blocks: added }, { unsafe, safe: finalized, finalized }, to)
  })
}

/** Builds in this thread. */
function builderOn(kv: Kv, { fails, onEffect }: Rig): SegmentBuilder {
  return {
    async build(request) {
      const failure = fails?.()
      if (failure) throw failure
      return buildSegments(kv, request, undefined, onEffect)
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** `fails`: returns the error of a build. `onEffect`: called after each step of a file and of the mover. */
type Rig = { readonly rows?: RowRetention; readonly fails?: () => Error | undefined; readonly onEffect?: () => void }

function moverOn(dir: string, kv: Kv, rig: Rig = {}) {
  const { rows = retainAllRows, onEffect } = rig
  const clock = createManualClock()
  const files = { kv, log: silentLog, dir: segmentsDir(dir) }
  const pruner = new RowPruner({ ...files, retention: rows, leastBodies: { sec: 0 } })
  const mover = new SegmentMover({
    ...files,
    clock,
    builder: builderOn(kv, rig),
    pruner,
    minFreeBytes: 0,
    bounds,
    onStep: () => onEffect?.(),
  })
  const run = async (): Promise<void> => {
    mover.committed()
    await clock.advanceMs(1_000)
    await clock.advanceMs(1_000)
  }
  return { mover, clock, run }
}

/** Everything that readers of the chain see of all blocks. */
function seen(kv: Kv): unknown[] {
  using reader = kv.snapshot()
  return Array.from({ length: 41 }, (_, number) => {
    const hash = readCanonicalHash(reader, number)
    const id = hash && { number, hash }
    return id && { header: readHeader(reader, id), block: readBlock(reader, id), receipts: readReceipts(reader, id) }
  })
}

/** Returns the retained blocks with a transaction that has no place. */
function lostPlaces(kv: Kv): number[] {
  using reader = kv.snapshot()
  const retained = blocks.filter(({ header: { number } }) => number >= readPruned(reader, tables.bodies.id))
  return retained.filter(({ executed }) => executed.some(({ hash }) => !readLocation(reader, hash))).map(({ header }) => header.number)
}

/** Returns the tables in which a verification finds differences. */
function differencesOf(kv: Kv): string[] {
  using reader = kv.snapshot()
  const found: string[] = []
  checkBlocks(reader, 0, 40, { hasTime: () => true, onRow() {}, report: ({ table, key }) => void found.push(`${table} ${key}`) })
  return found
}

const rowCount = (kv: Kv): number => {
  using reader = kv.snapshot()
  return segmentTables.reduce((sum, { id }) => sum + [...reader.keys(id, {})].length, 0)
}

it('blockchain/segments: moves finalized blocks to files, range by range, and every row reads as before', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  using reader = kv.snapshot()
  expect(readMoved(reader)).toBe(30)
  expect([...segmentsOf(reader, tables.bodies.id)].map(({ first, last }) => [first, last])).toEqual([
    [0, 9],
    [10, 19],
    [20, 29],
  ])
  expect(readdirSync(segmentsDir(dir))).toHaveLength(9)
  expect(rowCount(kv)).toBe(3 * 11)
  expect(seen(kv)).toEqual(before)
})

it('blockchain/segments: no transaction unwinds a block whose rows are in a file (CHAIN_STORE_DAMAGED)', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  const before = seen(kv)
  const idAt = (number: number) => ({ number, hash: blocks[number - 1]?.hash ?? genesis.block.hash })
  const unwindTo = (number: number): void => {
    const [head, ancestor] = [idAt(40), idAt(number)]
    kv.write((tx) => commitBranch(tx, head, { ancestor, blocks: [] }, { unsafe: ancestor, safe: ancestor, finalized: ancestor }, 41))
  }
  expect(() => unwindTo(28)).toThrow(expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED', message: expect.stringContaining('block 29') }))
  expect(seen(kv)).toEqual(before)
  unwindTo(29)
  expect(seen(kv)).toEqual([...before.slice(0, 30), ...Array.from({ length: 11 }, () => undefined)])
})

it('blockchain/segments: a segment ends where a window of the time changes, or with the bytes of its rows', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const request = { dir: segmentsDir(dir), genesis: genesis.block.hash, from: 1, upTo: 35 }
  const windowSec = 24
  const window = (number: number): number => Math.floor((blocks[number - 1]?.header.timestamp ?? 0) / windowSec)
  const change = Array.from({ length: 34 }, (_, at) => at + 1).find((number) => window(number) !== window(number + 1))
  expect(change).toBeGreaterThan(1)
  expect(buildSegments(kv, { ...request, bounds: { ...bounds, blocks: 100, windowSec } })?.last).toBe(change)
  const large = buildSegments(kv, { ...request, bounds: { blocks: 100, rowBytes: 2_000, windowSec: 86_400 } })
  expect(large?.last).toBeLessThan(10)
  expect(Math.max(...(large?.records.map(({ rowBytes }) => rowBytes) ?? []))).toBeGreaterThanOrEqual(2_000)
})

it('blockchain/segments: nothing is built while the range may grow, or when the build is ended', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const request = { dir: segmentsDir(dir), genesis: genesis.block.hash, from: 30, upTo: 35, bounds }
  expect(buildSegments(kv, request)).toBeUndefined()
  expect(buildSegments(kv, { ...request, from: 0 }, () => true)).toBeUndefined()
  expect(existsSync(segmentsDir(dir)) ? readdirSync(segmentsDir(dir)) : []).toEqual([])
})

it('blockchain/segments: a missing row ends moving with its block; nothing is lost', async () => {
  const dir = newDir()
  await using kv = store(dir)
  kv.write((tx) => {
    const [key] = tx.keys(tables.bodies.id, { limit: 1 })
    if (key) tx.delete(tables.bodies.id, key)
  })
  expect(() => buildSegments(kv, { dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 35, bounds })).toThrow(
    expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED', message: expect.stringContaining('block 0 in bodies') }),
  )
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  await run()
  expect(rowCount(kv)).toBe(3 * 41 - 1)
})

it('blockchain/segments: a build on a full disk is tried again after a minute', async () => {
  const dir = newDir()
  await using kv = store(dir)
  let failures = 0
  const full = storeFault('DISK_FULL', { dir, reason: 'ENOSPC' })
  const { run, mover, clock } = moverOn(dir, kv, { fails: () => (failures++ < 1 ? full : undefined) })
  await using _mover = mover
  await run()
  await run()
  expect(failures).toBe(1)
  await clock.advanceMs(60_000)
  await run()
  await run()
  using reader = kv.snapshot()
  expect(readMoved(reader)).toBeGreaterThan(0)
})

it('blockchain/segments: removes files and places of transactions that are not retained, also when the retention changes at a start', async () => {
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
  const { run, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
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

/** Copies a data directory as a kill at this instant leaves it. */
function killed(dir: string): string {
  const copy = newDir()
  cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('lock.mdb') })
  return copy
}

it('blockchain/segments: a kill between any two effects loses no row, and the next start completes the move', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = store(dir)
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv, { onEffect: () => void copies.push(killed(dir)) })
  await using _mover = mover
  for (let times = 0; times < 3; times++) await run()
  expect(copies.length).toBeGreaterThan(20)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    expect(seen(again)).toEqual(before)
    const next = moverOn(copy, again)
    await using _next = next.mover
    for (let times = 0; times < 6; times++) await next.run()
    expect(seen(again)).toEqual(before)
    expect(rowCount(again)).toBe(3 * 11)
    expect(readdirSync(segmentsDir(copy))).toHaveLength(9)
  }
}, 60_000)

it('blockchain/segments: after a kill between any two effects of retention a block reads whole or not at all', async () => {
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
  const { run, mover } = moverOn(dir, kv, { rows, onEffect: () => void copies.push(killed(dir)) })
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
    expect(readdirSync(segmentsDir(copy)).filter((name) => name.startsWith('bodies'))).toHaveLength(1)
  }
}, 60_000)

it('blockchain/segments: a removal that a kill has interrupted is completed also when the next start retains everything', async () => {
  const dir = newDir()
  await using kv = store(dir)
  const { run, mover } = moverOn(dir, kv)
  for (let times = 0; times < 6; times++) await run()
  await mover[Symbol.asyncDispose]()
  const rows: RowRetention = { bodies: { blocks: 25 }, receipts: 'all', logs: 'all' }
  const pruner = new RowPruner({ kv, log: silentLog, dir: segmentsDir(dir), retention: rows, leastBodies: { sec: 0 } })
  // the mark, and the places of some blocks
  pruner.step(3)
  pruner.step(3)
  expect(lostPlaces(kv)).toEqual([])
  expect(differencesOf(kv)).toEqual([])
  const next = moverOn(dir, kv)
  await using _next = next.mover
  for (let times = 0; times < 4; times++) await next.run()
  expect(readdirSync(segmentsDir(dir)).filter((name) => name.startsWith('bodies-000000000000'))).toEqual([])
  expect(differencesOf(kv)).toEqual([])
})

it('blockchain/segments: a directory that cannot be written ends moving; blocks stay in the tables', async () => {
  const dir = newDir()
  await using kv = store(dir)
  rmSync(segmentsDir(dir), { recursive: true, force: true })
  // a file in the place of the directory: this test may run as root, whom modes do not stop
  writeFileSync(segmentsDir(dir), '')
  const before = seen(kv)
  const { run, mover } = moverOn(dir, kv)
  await using _mover = mover
  await run()
  await run()
  expect(seen(kv)).toEqual(before)
  expect(rowCount(kv)).toBe(3 * 41)
})
