import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { pruneHistory } from '#state/pruneHistory'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv, KvWriter } from '#store/ports'
import { chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { asSchema3 } from '#test/harness/chain/olderSchemas'
import { storedChain } from '#test/harness/store/storedChain'
import { type MigrateResult, migrateDatabase } from './migrate.ts'
import { type VerifyResult, verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-migrate-'))
const original = join(base, 'original')
const blocks = 24
/** The last block in the history index of the store of schema 3. */
const indexed = 16
beforeAll(() => storedChain(original, blocks), 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))
const open = (datadir: string): Kv => openLmdbKv(join(datadir, 'chain'), Object.values(tables))
const schemaKey = Buffer.from('schema')
const stepsAfter = (schema: number): readonly string[] => chainSchema.migrations.filter(({ to }) => to > schema).map(({ name }) => name)

async function copyWith(name: string, change: (tx: KvWriter) => void): Promise<string> {
  const datadir = join(base, name)
  cpSync(original, datadir, { recursive: true })
  await using kv = open(datadir)
  kv.write(change)
  return datadir
}

/** @param parts interrupts the migration after this many transactions */
async function migrate(datadir: string, parts = Number.POSITIVE_INFINITY): Promise<MigrateResult> {
  const stop = new AbortController()
  let count = 0
  let ms = 0
  // each look at the time ends a transaction
  const clock = { elapsedMs: () => (ms += 1_000) }
  const onProgress = (): void => {
    if (++count >= parts) stop.abort()
  }
  return await migrateDatabase({ clock, signal: stop.signal, onProgress }, datadir)
}

const verify = (datadir: string): Promise<VerifyResult> =>
  verifyDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress: () => {} }, { datadir, restart: true })

const nodeTables = [tables.accountNodes, tables.storageNodes]

/** Returns a copy of the chain as schema 3 wrote it. @param upTo adds blocks to it up to this one before */
async function copyAsSchema3(name: string, upTo = blocks): Promise<string> {
  const datadir = await copyWith(name, () => {})
  await storedChain(datadir, upTo)
  await using kv = open(datadir)
  asSchema3(kv, { blocks: upTo, indexed })
  return datadir
}

it('database/migrate: leaves a database of the newest schema unchanged', async () => {
  expect(await migrate(original)).toEqual({ done: true, schema: chainSchema.version, steps: [], movedBlocks: 0 })
})

it('database/migrate: names the steps from an older schema, and refuses a newer one (SCHEMA_NEWER)', async () => {
  const older = await copyWith('older', (tx) => tx.put(tables.meta.id, schemaKey, u64Bytes(1)))
  const steps = stepsAfter(1)
  expect(steps.slice(0, 2)).toEqual(['log index', 'receipts with hashes'])
  expect(await migrate(older)).toMatchObject({ done: true, steps })
  expect(await migrate(older)).toMatchObject({ done: true, steps: [] })
  const newer = await copyWith('newer', (tx) => tx.put(tables.meta.id, schemaKey, u64Bytes(99)))
  await expect(migrate(newer)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' })
  await expect(migrate(join(base, 'none'))).rejects.toMatchObject({ code: 'DATABASE_MISSING' })
})

it('database/migrate: moves node changes of schema 3, continues after an interruption, and each part leaves a database that verifies', async () => {
  const datadir = await copyAsSchema3('schema 3')
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [] })
  expect(await migrate(datadir, 5)).toEqual({ done: false, schema: chainSchema.version, steps: stepsAfter(3), movedBlocks: 5 })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [] })
  // blocks after the interruption have the new format
  await storedChain(datadir, blocks + 2)
  expect(await migrate(datadir, 1)).toMatchObject({ done: false, steps: [], movedBlocks: 1 })
  expect(await migrate(datadir)).toEqual({ done: true, schema: chainSchema.version, steps: [], movedBlocks: blocks - 6 })
  expect(await migrate(datadir)).toMatchObject({ done: true, movedBlocks: 0 })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [], head: { number: blocks + 2 } })
  await using kv = open(datadir)
  using reader = kv.snapshot()
  const isNode = (id: number | undefined): boolean => nodeTables.some((table) => table.id === id)
  expect([...reader.keys(tables.changes.id, {})].filter((key) => isNode(key[8]))).toEqual([])
  expect([...reader.keys(tables.historyIndex.id, {})].filter((key) => isNode(key[0]))).toEqual([])
}, 120_000)

it('database/migrate: a database verifies while some blocks of an indexed segment of 64 are moved', async () => {
  const datadir = await copyAsSchema3('segment', 70)
  expect(await migrate(datadir, 20)).toMatchObject({ done: false, movedBlocks: 20 })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [] })
  expect(await migrate(datadir)).toMatchObject({ done: true, movedBlocks: 50 })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [] })
}, 120_000)

it('database/migrate: indexes the nodes of a segment whose first blocks have none left', async () => {
  const datadir = await copyAsSchema3('pruned nodes', 70)
  {
    await using kv = open(datadir)
    kv.write((tx) => pruneHistory(tx, { values: 0, nodes: 30 }, () => true))
  }
  expect(await migrate(datadir)).toMatchObject({ done: true, movedBlocks: 70 })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, differences: [] })
  await using kv = open(datadir)
  using reader = kv.snapshot()
  expect([...reader.keys(tables.nodeHistory.id, { from: Uint8Array.of(1) })]).toHaveLength(1)
}, 120_000)
