import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import type * as Environment from './lmdb/environment.ts'
import type { Root } from './lmdb/tableRows.ts'
import { openLmdbKv } from './lmdbKv.ts'
import { tables } from './tables.ts'

const opened = vi.hoisted((): { root?: Root } => ({}))
vi.mock('./lmdb/environment.ts', async (original) => {
  const environment = await original<typeof Environment>()
  const openTables: typeof environment.openTables = (...of) => Object.assign(opened, environment.openTables(...of))
  return { ...environment, openTables }
})

const dir = mkdtempSync(join(tmpdir(), 'basalt-flush-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it('store/lmdbKv: a full disk is tried again unless readers see the transaction; then no write follows (STORE_FAILED)', async () => {
  await using kv = openLmdbKv(dir, Object.values(tables))
  // a key that is written twice, as the root of a trie by a transaction of two blocks, and one that is deleted and written again
  const put = (value: number): void =>
    kv.write((tx) => {
      tx.put(tables.accounts.id, Uint8Array.of(1), Uint8Array.of(0))
      tx.put(tables.accounts.id, Uint8Array.of(1), Uint8Array.of(value))
      tx.delete(tables.canonical.id, Uint8Array.of(1))
      tx.put(tables.canonical.id, Uint8Array.of(1), Uint8Array.of(value))
    })
  put(1)
  const root = opened.root ?? expect.fail()
  const { transactionSync } = root
  const full = Object.assign(new Error('No space left on device'), { code: 28 })
  const failing = vi.spyOn(root, 'transactionSync')
  failing.mockImplementationOnce(() => {
    throw full
  })
  expect(() => put(2)).toThrow(expect.objectContaining({ code: 'DISK_FULL', severity: 'retry' }))
  put(2)
  failing.mockImplementationOnce((run, flags) => {
    transactionSync.call(root, run, flags)
    throw full
  })
  const ended = expect.objectContaining({ code: 'STORE_FAILED', severity: 'fatal' })
  expect(() => put(3)).toThrow(ended)
  expect(() => put(4)).toThrow(ended)
  using reader = kv.snapshot()
  expect(reader.get(tables.accounts.id, Uint8Array.of(1))).toEqual(Uint8Array.of(3))
})
