import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { makeTablesWithoutSums } from '#test/harness/store/tablesWithoutSums'
import { openBulkWriter } from '../bulk/bulkWriter.ts'
import { environmentStats } from '../environmentStats.ts'
import { openLmdbKv } from '../lmdbKv.ts'
import { openForeignReader } from '../lmdbReader.ts'
import type { Kv, KvReader, SnapshotSource } from '../ports.ts'
import type { TableSpec } from '../tables.ts'
import { openTables } from './environment.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-pieces-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const id = 3
const whole: readonly TableSpec[] = [{ id, name: 'values', key: 'key', value: 'bytes', doc: 'values' }]
const pieced: readonly TableSpec[] = [{ ...(whole[0] as TableSpec), isLong: true }]
const name = 'values.sums.pieces'
/** of a page, without its header and the checksum */
const pieceBytes = 4_096 - 24 - 4
const key = Uint8Array.of(7)

const lengths = [0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 2 * pieceBytes, 2 * pieceBytes + 1, 100_000]

function bytesOf(length: number, seed = 1): Uint8Array {
  const roll = dice(seed)
  return Uint8Array.from({ length }, () => roll(256))
}

function read<T>(source: SnapshotSource, use: (reader: KvReader) => T): T {
  using reader = source.snapshot()
  return use(reader)
}

const rowsOf = (kv: Kv): unknown => read(kv, (reader) => [...reader.range(id, {})])

/** Number of rows in the table of pieces. */
async function piecesIn(dir: string): Promise<number> {
  const { root } = openTables(dir, [], 'writer')
  const table = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' })
  const count = table.getCount()
  await root.close()
  return count
}

afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('store/lmdb/pieces', () => {
  it.each(lengths)('store/lmdb/pieces: a value of %i bytes is read whole in each way', async (length) => {
    await using kv = openLmdbKv(newDir(), pieced)
    const value = bytesOf(length)
    const after = Uint8Array.of(8)
    kv.write((tx) => {
      tx.put(id, key, value)
      tx.put(id, after, key)
      expect(tx.get(id, key)).toEqual(value)
    })
    read(kv, (reader) => {
      expect(reader.get(id, key)).toEqual(value)
      expect(reader.look(id, key, (found) => found.slice())).toEqual(value)
      expect([...reader.range(id, {})]).toEqual([
        { key, value },
        { key: after, value: key },
      ])
      expect([...reader.range(id, { reverse: true, limit: 1, to: after })]).toEqual([{ key, value }])
      expect([...reader.keys(id, {})]).toEqual([key, after])
    })
  })

  it('store/lmdb/pieces: each value of a range keeps its bytes after the next is read', async () => {
    await using kv = openLmdbKv(newDir(), pieced)
    const values = [1, 2, 3].map((seed) => bytesOf(9_000, seed))
    kv.write((tx) => {
      for (const [at, value] of values.entries()) tx.put(id, Uint8Array.of(at + 1), value)
    })
    expect(read(kv, (reader) => [...reader.range(id, {})].map(({ value }) => value))).toEqual(values)
  })

  it('store/lmdb/pieces: a value instead of another leaves none of its pieces, and neither does a removed row', async () => {
    const dir = newDir()
    for (const from of lengths) {
      for (const to of lengths) {
        await using kv = openLmdbKv(dir, pieced)
        for (const length of [from, to]) kv.write((tx) => tx.put(id, key, bytesOf(length, length + 1)))
        expect(read(kv, (reader) => reader.get(id, key))).toEqual(bytesOf(to, to + 1))
        kv.write((tx) => tx.delete(id, key))
        expect(rowsOf(kv)).toEqual([])
      }
    }
    expect(await piecesIn(dir)).toBe(0)
  })

  it('store/lmdb/pieces: random writes and removals leave the rows of a store without pieces', async () => {
    const roll = dice(11)
    await using kv = openLmdbKv(newDir(), pieced)
    await using model = createMemoryKv()
    for (let round = 0; round < 60; round++) {
      const changes = Array.from({ length: 4 }, () => {
        const at = Uint8Array.of(1 + roll(3), ...new Uint8Array(roll(3)))
        return { at, value: roll(3) === 0 ? undefined : bytesOf(roll(3) * pieceBytes + roll(2) * roll(500), round + 1) }
      })
      for (const store of [kv, model]) {
        store.write((tx) => {
          for (const { at, value } of changes) value === undefined ? tx.delete(id, at) : tx.put(id, at, value)
        })
      }
      expect(rowsOf(kv)).toEqual(rowsOf(model))
    }
  })

  it('store/lmdb/pieces: rows of an earlier version, with whole values, are read, replaced and removed', async () => {
    const dir = newDir()
    const keyOf = (length: number): Uint8Array => Uint8Array.of(1, length >> 8, length)
    const lengths = [0, 1, 4_071, 4_072, 4_073, 8_144, 8_145, 100_000]
    await makeTablesWithoutSums(dir, ['values'])
    {
      await using kv = openLmdbKv(dir, whole)
      kv.write((tx) => {
        for (const length of lengths) tx.put(id, keyOf(length), bytesOf(length))
      })
    }
    {
      // before the first start that writes
      await using reader = openForeignReader(dir, pieced)
      for (const length of lengths) expect(read(reader, (rows) => rows.get(id, keyOf(length)))).toEqual(bytesOf(length))
    }
    await using kv = openLmdbKv(dir, pieced)
    for (const length of lengths) expect(read(kv, (rows) => rows.get(id, keyOf(length)))).toEqual(bytesOf(length))
    kv.write((tx) => {
      for (const length of lengths) length % 2 === 0 ? tx.delete(id, keyOf(length)) : tx.put(id, keyOf(length), bytesOf(20_000, 2))
    })
    const odd = lengths.filter((length) => length % 2 === 1).map((length) => ({ key: keyOf(length), value: bytesOf(20_000, 2) }))
    expect(rowsOf(kv)).toEqual(odd.sort((a, b) => Buffer.compare(a.key, b.key)))
  })

  it.each([{ ascending: [id] }, { ascending: [] }])(
    'store/lmdb/pieces: a bulk writer writes them too: $ascending',
    async ({ ascending }) => {
      const dir = newDir()
      {
        await using writer = openBulkWriter(dir, pieced, ascending)
        for (const length of lengths) writer.put(id, Uint8Array.of(length >> 16, length >> 8, length, 1), bytesOf(length))
        writer.flush()
        // as after a kill
        writer.put(id, Uint8Array.of(100_000 >> 16, 100_000 >> 8, 100_000, 1), bytesOf(100_000))
        writer.flush()
      }
      await using kv = openLmdbKv(dir, pieced)
      expect(read(kv, (reader) => [...reader.range(id, {})].map(({ value }) => value))).toEqual(lengths.map((length) => bytesOf(length)))
    },
  )

  it('store/lmdb/pieces: the size of a table includes its pieces, and its rows do not', async () => {
    const dir = newDir()
    await using kv = openLmdbKv(dir, pieced)
    kv.write((tx) => {
      for (let at = 1; at < 11; at++) tx.put(id, Uint8Array.of(at), bytesOf(50_000))
    })
    const { tables } = environmentStats(dir)
    expect(tables.map((table) => table.name)).toEqual(['values'])
    expect(tables[0]).toMatchObject({ rows: 10 })
    expect(tables[0]?.bytes).toBeGreaterThan(500_000)
  })
})
