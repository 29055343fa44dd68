import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { putBaseTrust } from '#blockchain/baseTrust'
import { pruneLogIndex } from '#blockchain/logIndex/logIndex'
import { writeMark } from '#state/rows'
import { openLmdbKv } from '#store/lmdbKv'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { blockTables, writePruned } from '#store/segments/segmentRecords'
import { tables } from '#store/tables'
import { storedChain, storedGenesis } from '#test/harness/store/storedChain'
import { hashFromBytes } from '#types/ids'
import { datadirStats } from './stats.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-stats-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

it('database/stats: counts rows, pages and blocks of a stopped node, and their growth', async () => {
  const datadir = join(base, 'stopped')
  await storedChain(datadir, 60)
  const stats = await datadirStats(datadir)
  const { chain, blocks, growth } = stats
  const rows = Object.fromEntries(chain.tables.map((table) => [table.name, table.rows]))
  expect(Object.keys(rows).toSorted()).toEqual(
    Object.values(tables)
      .map(({ name }) => name)
      .toSorted(),
  )
  expect(rows).toMatchObject({ headers: 61, bodies: 61, receipts: 61, canonical: 61, blockByHash: 61 })
  expect(chain.usedBytes).toBe(chain.tables.reduce((sum, { bytes }) => sum + bytes, chain.freeBytes + chain.otherBytes))
  expect(chain.otherBytes).toBeGreaterThan(0)
  expect(chain.usedBytes).toBeLessThanOrEqual(chain.fileBytes + chain.freeBytes)
  // one block every two seconds
  expect(blocks).toEqual({ head: 60, stored: 61, oldest: 0, oldestState: 0, oldestProof: 0, perDay: 43_200 })
  const bodies = growth.find(({ table }) => table === 'bodies')
  expect(bodies?.bytesPerDay).toBeCloseTo(((chain.tables.find(({ name }) => name === 'bodies')?.bytes ?? 0) / 61) * 43_200)
  expect(stats.bytesPerDay).toBeCloseTo(growth.reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0))
  expect(stats.daysUntilFull).toBeCloseTo((stats.diskFreeBytes + chain.freeBytes) / stats.bytesPerDay)
  expect([stats.consensus, stats.segments]).toEqual([undefined, []])
})

it('database/stats: counts the growth of accounts, slots and their trie nodes by the rows that blocks added', async () => {
  const datadir = join(base, 'state')
  const blocks = 20
  await storedChain(datadir, blocks)
  const { chain, growth, bytesPerDay, daysUntilFull, diskFreeBytes } = await datadirStats(datadir)
  const sizeOf = (table: string) => chain.tables.find(({ name }) => name === table) ?? expect.fail()
  const grown = (table: string): number => growth.find((found) => found.table === table)?.bytesPerBlock ?? expect.fail()
  // all blocks are in the sample: they added all rows that the genesis does not have
  const genesisAccounts = [...storedGenesis.accounts].length
  const perAccount = (sizeOf('accounts').rows - genesisAccounts) / sizeOf('accounts').rows / blocks
  expect(sizeOf('accounts').rows).toBeGreaterThan(genesisAccounts + blocks)
  expect(grown('accounts')).toBeCloseTo(sizeOf('accounts').bytes * perAccount)
  expect(grown('accountNodes')).toBeCloseTo(sizeOf('accountNodes').bytes * perAccount)
  expect(sizeOf('storage').rows).toBe(blocks)
  expect(grown('storage')).toBeCloseTo(sizeOf('storage').bytes / blocks)
  expect(grown('storageNodes')).toBeCloseTo(sizeOf('storageNodes').bytes / blocks)
  expect(bytesPerDay).toBeCloseTo(growth.reduce((sum, table) => sum + table.bytesPerDay, 0))
  expect(daysUntilFull).toBeCloseTo((diskFreeBytes + chain.freeBytes) / bytesPerDay)
})

it('database/stats: the rows that a snapshot left out were not pruned; those that retention removed since do not grow', async () => {
  const datadir = join(base, 'restored')
  await storedChain(datadir, 60)
  const all = (await datadirStats(datadir)).growth.map(({ table }) => table)
  const grown = async (first: number): Promise<string[]> => {
    {
      await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
      kv.write((tx) => {
        putBaseTrust(tx, { block: { number: 30, hash: hashFromBytes(new Uint8Array(32).fill(1)) }, grade: 'given' })
        for (const { id } of blockTables) writePruned(tx, id, first)
        pruneLogIndex(tx, { from: first, keys: [] })
        for (const mark of ['oldest', 'oldestNodes'] as const) writeMark(tx, mark, first - 1)
      })
    }
    return (await datadirStats(datadir)).growth.map(({ table }) => table)
  }
  expect(all).toEqual(expect.arrayContaining(['bodies', 'receipts', 'txByHash', 'logIndex', 'changes', 'historyIndex', 'nodeHistory']))
  expect(await grown(31)).toEqual(all)
  expect(await grown(40)).toEqual(['canonical', 'blockByHash', 'accounts', 'accountNodes', 'storage', 'storageNodes'])
})

it('database/stats: counts every row of each table, as a scan does', async () => {
  const datadir = join(base, 'scan')
  await storedChain(datadir, 20)
  const { chain } = await datadirStats(datadir)
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  using reader = kv.snapshot()
  for (const { id, name } of Object.values(tables)) {
    expect([name, chain.tables.find((table) => table.name === name)?.rows]).toEqual([name, [...reader.keys(id, {})].length])
  }
})

it('database/stats: works beside the writer that holds the lock, and sees its last commit', async () => {
  const datadir = join(base, 'running')
  await storedChain(datadir, 10)
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  const key = new Uint8Array(32).fill(7)
  const before = await datadirStats(datadir)
  kv.write((tx) => tx.put(tables.code.id, key, new Uint8Array(100_000)))
  const after = await datadirStats(datadir)
  const code = (stats: typeof before) => stats.chain.tables.find(({ name }) => name === 'code')
  expect((code(after)?.rows ?? 0) - (code(before)?.rows ?? 0)).toBe(1)
  expect((code(after)?.bytes ?? 0) - (code(before)?.bytes ?? 0)).toBeGreaterThan(100_000)
})

it('database/stats: names a directory without a database (DATABASE_MISSING), and one without a chain (DATABASE_EMPTY)', async () => {
  await expect(datadirStats(join(base, 'nothing'))).rejects.toMatchObject({ code: 'DATABASE_MISSING' })
  const datadir = join(base, 'empty')
  {
    await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
    agreeOnSchema(kv, chainSchema)
  }
  await expect(datadirStats(datadir)).rejects.toMatchObject({ code: 'DATABASE_EMPTY' })
})
