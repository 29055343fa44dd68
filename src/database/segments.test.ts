import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBlocks } from '#blockchain/check/blockCheck'
import { systemClock } from '#lib/clock'
import { openChainKv, openForeignChainReader, segmentsDir } from '#store/chainTables'
import type { Difference } from '#store/rowCheck'
import { checkSegmentFiles } from '#store/segments/segmentCheck'
import { deleteSegment, segmentsOf, writePruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { moveBlocks } from '#test/harness/store/movedChain'
import { storedChain } from '#test/harness/store/storedChain'
import { compactDatabase } from './compact.ts'
import { datadirStats } from './stats.ts'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-database-segments-'))
const sound = join(base, 'sound')
let copies = 0
beforeAll(async () => {
  await storedChain(sound, 30)
  await moveBlocks(sound, 20)
}, 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

const { signal } = new AbortController()
const verify = (datadir: string) => verifyDatabase({ clock: systemClock, signal, onProgress() {} }, { datadir })

/** Returns a copy whose second file of a table is changed. */
function changed(table: string, change: (path: string) => void): { readonly datadir: string; readonly path: string } {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(sound, datadir, { recursive: true })
  const dir = segmentsDir(join(datadir, 'chain'))
  const path = join(dir, readdirSync(dir).find((name) => name.startsWith(`${table}-000000000010`)) ?? expect.fail())
  change(path)
  return { datadir, path }
}

/** @param at from the end of the file if negative */
const flipAt =
  (at: number, mask = 4) =>
  (path: string): void => {
    const bytes = readFileSync(path)
    const index = at < 0 ? bytes.length + at : at
    bytes[index] = (bytes[index] ?? 0) ^ mask
    writeFileSync(path, bytes)
  }
const flip = flipAt(200)
/** Descriptor of the first zstd frame, after the head of 140 bytes and zstd's magic number. Decoders ignore one of its bits. */
const descriptorAt = 140 + 4
const unusedBit = 0x10

it('database/verify: finds nothing in blocks that moved to segment files', async () => {
  expect(await verify(sound)).toMatchObject({ done: true, found: 0, head: { number: 30 } })
})

it.each([
  ['a flipped byte in headers', 'headers', flip],
  ['a flipped byte in bodies', 'bodies', flip],
  ['a flipped byte in receipts', 'receipts', flip],
  ['a flipped byte in the log index', 'logIndex', flip],
  ['a truncated file of it', 'logIndex', (path: string) => truncateSync(path, 160)],
  ['a missing file of it', 'logIndex', (path: string) => unlinkSync(path)],
  ['a truncated file', 'receipts', (path: string) => truncateSync(path, 300)],
  ['a missing file', 'bodies', (path: string) => unlinkSync(path)],
])('database/verify: names the segment file with %s', async (_what, table, change) => {
  const { datadir, path } = changed(table, change)
  const { found, differences } = await verify(datadir)
  expect(found).toBeGreaterThan(0)
  expect(differences.every(({ table: of, found: text }) => of !== 'segments' || text.includes(path))).toBe(true)
  expect(differences.some(({ table: of }) => of === 'segments')).toBe(true)
})

describe.each(['headers', 'bodies', 'receipts', 'logIndex'])('segment file of %s', (table) => {
  it.each([
    ['its head', flipAt(20)],
    ['a frame', flip],
    ['a bit that its readers ignore', flipAt(descriptorAt, unusedBit)],
    ['its index', flipAt(-1)],
  ])('database/verify: names the one file with a flipped byte in %s', async (_where, change) => {
    const { datadir, path } = changed(table, change)
    const { found, differences, checked } = await verify(datadir)
    expect(found).toBeGreaterThan(0)
    expect(checked.files).toBe(8)
    const named = differences.filter(({ table: of, expected }) => of === 'segments' && expected.includes('SHA-256'))
    expect(named).toHaveLength(1)
    expect(named[0]).toMatchObject({
      found: expect.stringContaining(`the segment file ${path} cannot be read: its SHA-256 is `),
      remedy: expect.stringContaining('copy the file of this name'),
    })
  })
})

it('database/verify: checks one file in each run when it has time for one', async () => {
  const result = await verifyDatabase({ clock: systemClock, signal, onProgress() {} }, { datadir: sound, runMs: 0 })
  expect(result).toMatchObject({ done: true, found: 0, checked: { files: 8 } })
})

it('database/verify: does not report a file that retention has removed since the snapshot', async () => {
  const { datadir } = changed('bodies', unlinkSync)
  const dir = join(datadir, 'chain')
  await using source = openForeignChainReader(dir)
  using reader = source.snapshot()
  const reportsWhen = (isRecorded: boolean): number => {
    let reports = 0
    const watch = { report: (): void => void reports++, hasTime: () => true, onRow() {} }
    checkSegmentFiles(reader, { dir: segmentsDir(dir), from: Uint8Array.of(0), isRecorded: () => isRecorded }, watch)
    return reports
  }
  expect([reportsWhen(true), reportsWhen(false)]).toEqual([1, 0])
})

it.each([
  ['does not report a block whose bodies retention has removed since the snapshot', true],
  ['reports a block whose recorded file is missing', false],
])('database/verify: %s', async (_title, isRemoved) => {
  const { datadir, path } = changed('bodies', () => {})
  const dir = join(datadir, 'chain')
  await using kv = openChainKv(dir)
  await using source = openForeignChainReader(dir)
  using reader = source.snapshot()
  unlinkSync(path)
  kv.write((tx) => {
    if (!isRemoved) return
    for (const record of [...segmentsOf(tx, tables.bodies.id)].slice(0, 2)) deleteSegment(tx, record)
    writePruned(tx, tables.bodies.id, 20)
  })
  const found: string[] = []
  const watch = { report: ({ table }: Difference): void => void found.push(table), hasTime: () => true, onRow() {} }
  checkBlocks(reader, { from: 0, head: 30, source }, watch)
  expect(found).toEqual(isRemoved ? [] : Array.from({ length: 10 }, () => 'segments'))
})

it('database/compact: keeps the segment files and their records', async () => {
  const { datadir } = changed('bodies', () => {})
  await compactDatabase({ clock: systemClock, signal, onProgress() {} }, datadir)
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0 })
})

it('database/stats: counts segment files, and the growth of their tables by their size', async () => {
  const { segments, growth, blocks } = await datadirStats(sound)
  const dir = segmentsDir(join(sound, 'chain'))
  const bytesOf = (table: string): number =>
    readdirSync(dir).reduce((sum, name) => sum + (name.startsWith(`${table}-`) ? statSync(join(dir, name)).size : 0), 0)
  const perDay = blocks.perDay ?? expect.fail()
  for (const table of ['headers', 'bodies', 'receipts', 'logIndex']) {
    const fileBytes = bytesOf(table)
    expect(segments.find((found) => found.table === table)).toMatchObject({ table, files: 2, first: 0, last: 19, fileBytes })
    const grown = growth.find((found) => found.table === table)
    expect(grown?.bytesPerBlock).toBeCloseTo(fileBytes / 20)
    expect(grown?.bytesPerDay).toBeCloseTo((fileBytes / 20) * perDay)
  }
  // rows of all 31 blocks, although 11 bodies are in the table
  expect(growth.find(({ table }) => table === 'txByHash')?.basis).toBe('bytes / 31 stored bodies × blocks per day')
  expect(growth.find(({ table }) => table === 'logIndex')?.basis).toBe('bytes of segment files / 20 blocks in them × blocks per day')
})
