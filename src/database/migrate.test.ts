import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { fromHex, type Hex, toHex } from '#lib/hex'
import { unwindState } from '#state/chainState'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv, KvReader, KvWriter } from '#store/ports'
import { chainSchema } from '#store/schema'
import { tables } from '#store/tables'
import { indexAsSchema5 } from '#test/harness/chain/olderSchemas'
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
type Rows = ReadonlyMap<Hex, Hex>

/** Returns all trie nodes by table and key. */
const nodesIn = (reader: KvReader): Rows =>
  new Map(
    nodeTables.flatMap(({ id }) =>
      [...reader.range(id, {})].map(({ key, value }) => [toHex(concatBytes(Uint8Array.of(id), key)), toHex(value)] as const),
    ),
  )

/** Returns the trie nodes after each block, from the last one down, by unwinding in a transaction that is not committed. */
function nodesByBlock(kv: Kv): readonly Rows[] {
  const found: Rows[] = []
  const notCommitted = new Error('not committed')
  try {
    kv.write((tx) => {
      for (let number = blocks; number >= 0; number--) {
        found.push(nodesIn(tx))
        if (number > 0) unwindState(tx, number)
      }
      throw notCommitted
    })
  } catch (error) {
    if (error !== notCommitted) throw error
  }
  return found.reverse()
}

/** Iterates over the trie nodes that a block changed, as rows of schema 3. */
function* nodeChanges(nodes: readonly Rows[], number: number): Generator<{ readonly row: Hex; readonly change: Uint8Array }> {
  const [before, after] = [nodes[number - 1] ?? expect.fail(), nodes[number] ?? expect.fail()]
  for (const row of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(row)
    if (was !== after.get(row)) yield { row, change: was ? concatBytes(Uint8Array.of(1), fromHex(was)) : Uint8Array.of(0) }
  }
}

/** Returns a copy of the chain as schema 3 wrote it: with whole trie nodes among the changes of each block, and in the history index. */
async function asSchema3(name: string): Promise<string> {
  const datadir = await copyWith(name, () => {})
  await using kv = open(datadir)
  const nodes = nodesByBlock(kv)
  kv.write((tx) => {
    for (let number = 1; number <= blocks; number++) {
      for (const { row, change } of nodeChanges(nodes, number)) {
        tx.put(tables.changes.id, concatBytes(u64Bytes(number), fromHex(row)), change)
      }
    }
    indexAsSchema5(tx, indexed)
    for (const key of [...tx.keys(tables.nodeHistory.id, {})]) tx.delete(tables.nodeHistory.id, key)
    tx.delete(tables.meta.id, Buffer.from('state.nodes'))
    tx.put(tables.meta.id, schemaKey, u64Bytes(3))
  })
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
  const datadir = await asSchema3('schema 3')
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
