import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeTablesWithoutSums } from '#test/harness/store/tablesWithoutSums'
import { openLmdbKv } from '../lmdbKv.ts'
import type { KvReader } from '../ports.ts'
import { agreeOnSchema, chainSchema } from '../schema.ts'
import { tables } from '../tables.ts'
import { openTables } from './environment.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-sums-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const id = tables.accounts.id
const keyOf = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes)
const value = keyOf(1, 2, 3)
const keys = [2, 4, 6, 8].map((byte) => keyOf(byte))

/** Writes the rows of `keys`, then changes them below the checksums. */
async function changed(change: (rows: Map<number, Uint8Array>) => void): Promise<string> {
  const dir = newDir()
  {
    await using kv = openLmdbKv(dir, Object.values(tables))
    kv.write((tx) => {
      for (const key of keys) tx.put(id, key, value)
    })
  }
  const { root } = openTables(dir, [], 'writer')
  const table = root.openDB<Uint8Array, Uint8Array>({ name: 'accounts.sums', encoding: 'binary', keyEncoding: 'binary' })
  const rows = new Map(Array.from(table.getRange(), ({ key, value: row }) => [key[0] as number, Uint8Array.from(row)]))
  change(rows)
  table.clearSync()
  for (const [key, row] of rows) table.putSync(keyOf(key), row)
  await root.close()
  return dir
}

async function outcome(dir: string, read: (reader: KvReader) => unknown): Promise<unknown> {
  await using kv = openLmdbKv(dir, Object.values(tables))
  using reader = kv.snapshot()
  try {
    return read(reader)
  } catch (error) {
    return error
  }
}

const damage = (dir: string, reason: string): unknown => expect.objectContaining({ code: 'STORE_DAMAGED', data: { dir, reason } })
const keysIn = (reader: KvReader): unknown => [...reader.keys(id, {})].map(([byte]) => byte)
const get = (byte: number) => (reader: KvReader) => reader.get(id, keyOf(byte))

/** A row with another key, as after a flipped bit of its key. */
const renamed = (from: number, to: number) =>
  changed((rows) => {
    rows.set(to, rows.get(from) ?? expect.fail())
    rows.delete(from)
  })

describe('store/lmdb/tableRows', () => {
  it('store/lmdb/tableRows: rows that nothing damaged are read, and those between them are absent', async () => {
    const dir = await changed(() => {})
    expect(await outcome(dir, get(4))).toEqual(value)
    for (const absent of [1, 3, 5, 7, 9]) expect(await outcome(dir, get(absent))).toBeUndefined()
    expect(await outcome(dir, keysIn)).toEqual([2, 4, 6, 8])
  })

  it('store/lmdb/tableRows: a changed value is a fault that names its row (STORE_DAMAGED)', async () => {
    const dir = await changed((rows) => rows.set(4, keyOf(1, 2, 2, ...(rows.get(4) ?? expect.fail()).subarray(3))))
    const fault = damage(dir, 'the row 0x04 of table accounts does not have its checksum')
    expect(await outcome(dir, get(4))).toEqual(fault)
    expect(await outcome(dir, keysIn)).toEqual(fault)
    expect(await outcome(dir, get(6))).toEqual(value)
  })

  it.each([
    ['between its neighbours', 4, 5],
    ['beyond the next', 4, 7],
    ['before all others', 8, 1],
    ['after all others', 2, 9],
  ])('store/lmdb/tableRows: a row whose key changed to one %s is neither absent nor left out (STORE_DAMAGED)', async (_, from, to) => {
    const dir = await renamed(from, to)
    const fault = damage(dir, `the row 0x0${to} of table accounts does not have its checksum`)
    expect(await outcome(dir, get(to))).toEqual(fault)
    expect(await outcome(dir, keysIn)).toEqual(fault)
  })

  it('store/lmdb/tableRows: a row is not absent when a neighbour is damaged (STORE_DAMAGED)', async () => {
    const dir = await renamed(4, 5)
    const fault = damage(dir, 'the row 0x05 of table accounts does not have its checksum')
    expect(await outcome(dir, get(4))).toEqual(fault)
    // ranges that end at the damaged row, and another
    expect(await outcome(dir, (reader) => [...reader.range(id, { to: keyOf(5) })])).toEqual(fault)
    expect(await outcome(dir, (reader) => [...reader.range(id, { to: keyOf(5), reverse: true })])).toEqual(fault)
    expect(await outcome(dir, (reader) => [...reader.range(id, { from: keyOf(8) })])).toEqual([{ key: keyOf(8), value }])
    // a range that begins after it
    const other = await renamed(6, 5)
    expect(await outcome(other, (reader) => [...reader.range(id, { from: keyOf(6), limit: 1 })])).toEqual(
      damage(other, 'the row 0x05 of table accounts does not have its checksum'),
    )
  })

  it('store/lmdb/tableRows: a row without room for a checksum is damaged (STORE_DAMAGED)', async () => {
    const dir = await changed((rows) => rows.set(4, keyOf(1)))
    expect(await outcome(dir, get(4))).toEqual(damage(dir, 'the row 0x04 of table accounts does not have its checksum'))
  })

  it('store/lmdb/tableRows: a write that reads a damaged row changes nothing (STORE_DAMAGED)', async () => {
    const dir = await renamed(4, 5)
    await using kv = openLmdbKv(dir, Object.values(tables))
    expect(() => kv.write((tx) => tx.put(id, keyOf(9), tx.get(id, keyOf(5)) ?? value))).toThrow(
      damage(dir, 'the row 0x05 of table accounts does not have its checksum') as Error,
    )
    using reader = kv.snapshot()
    expect(reader.get(id, keyOf(9))).toBeUndefined()
  })

  it('store/lmdb/tableRows: tables of an earlier version are read and written without checksums', async () => {
    const dir = newDir()
    await makeTablesWithoutSums(
      dir,
      Object.values(tables).map(({ name }) => name),
    )
    {
      await using kv = openLmdbKv(dir, Object.values(tables))
      kv.write((tx) => tx.put(id, keyOf(1), value))
      using reader = kv.snapshot()
      expect([reader.get(id, keyOf(1)), reader.get(id, keyOf(2)), keysIn(reader)]).toEqual([value, undefined, [1]])
    }
    const { root } = openTables(dir, [], 'reader')
    expect([...root.openDB({ name: 'accounts', encoding: 'binary', keyEncoding: 'binary' }).getRange()]).toEqual([
      { key: Buffer.of(1), value: Buffer.from(value) },
    ])
    await root.close()
  })

  it('store/lmdb/tableRows: a version without checksums finds a schema that is newer than its own (SCHEMA_NEWER)', async () => {
    const dir = newDir()
    const own = { ...chainSchema, version: 10, migrations: chainSchema.migrations.filter(({ to }) => to <= 10) }
    {
      await using kv = openLmdbKv(dir, Object.values(tables))
      agreeOnSchema(kv, chainSchema)
      expect(() => agreeOnSchema(kv, own)).toThrow(`the data directory has schema ${chainSchema.version}, this version supports 10`)
    }
    // it opens the tables without checksums
    const { root } = openTables(dir, [], 'writer')
    const older = root.openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' })
    expect(older.get(Buffer.from('schema'))).toEqual(Buffer.of(0, 0, 0, 0, 0, 0, 0, 11))
    await root.close()
  })
})
