import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openLmdbKv } from '../lmdbKv.ts'
import { tables } from '../tables.ts'
import { BulkThread } from './bulkThread.ts'
import { openBulkWriter } from './bulkWriter.ts'
import { packedRow, unpackRows } from './packedRows.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
function newDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'basalt-bulk-'))
  folders.push(folder)
  return join(folder, 'chain')
}

const specs = Object.values(tables)
const table = tables.accounts.id
const key = (number: number): Uint8Array => Uint8Array.of(number >> 8, number & 255, 1)

it('store/bulkThread: writes each flush in the order of the calls, larger than the buffer too, and reads what is written', async () => {
  const dir = newDir()
  const large = new Uint8Array(2 ** 20).fill(7)
  {
    await using rows = new BulkThread(dir, specs, [table])
    for (let number = 1; number <= 300; number++) {
      rows.putPacked(packedRow(table, key(number), number % 3 === 0 ? large : key(number)))
      if (number % 60 === 0) rows.flush()
    }
    rows.settle()
    expect(rows.get(table, key(1))).toEqual(key(1))
    expect(rows.get(table, key(500))).toBeUndefined()
    rows.putPacked(packedRow(table, key(400), key(4)))
  }
  await using kv = openLmdbKv(dir, specs)
  using reader = kv.snapshot()
  const found = [...reader.range(table, {})]
  expect(found.map((row) => row.key)).toEqual(Array.from({ length: 300 }, (_, i) => key(i + 1)))
  expect(found[2]?.value).toEqual(large)
}, 60_000)

it('store/bulkThread: rows of an ascending table may be written again as they are', async () => {
  const dir = newDir()
  await using rows = new BulkThread(dir, specs, [table])
  for (let life = 0; life < 2; life++) {
    for (const number of [1, 2, 3]) rows.putPacked(packedRow(table, key(number), key(number)))
    rows.flush()
    rows.settle()
  }
  rows.putPacked(packedRow(table, key(2), key(9)))
  rows.flush()
  expect(() => rows.settle()).toThrow('do not ascend')
})

it('store/bulkThread: a transaction that fails is reported by the next call, and nothing of it is written', async () => {
  const dir = newDir()
  {
    await using rows = new BulkThread(dir, specs, [table])
    rows.putPacked(packedRow(table, key(2), key(2)))
    rows.flush()
    rows.putPacked(packedRow(table, key(3), key(3)))
    rows.putPacked(packedRow(table, key(1), key(1)))
    rows.flush()
    expect(() => rows.flush()).toThrow('do not ascend')
    expect(() => rows.settle()).toThrow('do not ascend')
  }
  await using kv = openLmdbKv(dir, specs)
  using reader = kv.snapshot()
  expect([...reader.keys(table, {})]).toEqual([key(2)])
})

it('store/bulkThread: is the only writer of its directory (DATADIR_LOCKED), and removes it on demand', async () => {
  const dir = newDir()
  {
    await using writer = openBulkWriter(dir, specs)
    expect(writer.isDue).toBe(false)
    expect(() => new BulkThread(dir, specs)).toThrow(expect.objectContaining({ code: 'DATADIR_LOCKED' }))
  }
  const rows = new BulkThread(dir, specs)
  await rows.remove()
  expect(existsSync(join(dir, 'data.mdb'))).toBe(false)
})

it('store/bulkThread: reports a removal that fails, and the process goes on', async () => {
  const dir = newDir()
  const rows = new BulkThread(dir, specs)
  const file = join(dir, 'data.mdb')
  renameSync(file, `${file}.moved`)
  mkdirSync(file)
  await expect(rows.remove()).rejects.toThrow('is a directory')
})

it('store/packedRows: reads the rows that were packed, and refuses keys without or with too many bytes', () => {
  const rows = [
    { table: 3, key: key(1), value: new Uint8Array(0) },
    { table: 9, key: new Uint8Array(255), value: new Uint8Array(70_000).fill(1) },
  ]
  const packed = Buffer.concat(rows.map((row) => packedRow(row.table, row.key, row.value)))
  expect([...unpackRows(packed)].map(({ table: found, key: k, value }) => [found, k.length, value.length])).toEqual([
    [3, 3, 0],
    [9, 255, 70_000],
  ])
  for (const length of [0, 256]) expect(() => packedRow(3, new Uint8Array(length), key(1))).toThrow(RangeError)
})
