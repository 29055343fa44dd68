import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { environmentStats } from './environmentStats.ts'
import type * as Damage from './lmdb/damage.ts'
import type { Meta } from './lmdb/pages.ts'
import { openLmdbKv } from './lmdbKv.ts'
import { tables } from './tables.ts'

/** Number of next reads of the meta page that find one whose pages a writer has overwritten. */
const overwritten = vi.hoisted(() => ({ reads: 0 }))
vi.mock('./lmdb/damage.ts', async (original) => {
  const damage = await original<typeof Damage>()
  const newestMeta: typeof damage.newestMeta = (file) => {
    const meta = damage.newestMeta(file)
    if (meta === undefined || overwritten.reads === 0) return meta
    overwritten.reads--
    return { ...meta, main: { ...meta.main, entries: meta.main.entries + 1 } } satisfies Meta
  }
  return { ...damage, newestMeta }
})

const dir = mkdtempSync(join(tmpdir(), 'basalt-stats-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
beforeAll(async () => {
  await using kv = openLmdbKv(dir, Object.values(tables))
  kv.write((tx) => tx.put(tables.accounts.id, Uint8Array.of(1), Uint8Array.of(2)))
})

it('store/environmentStats: reads the counters again when another process has overwritten a page meanwhile', () => {
  const sound = environmentStats(dir)
  expect(sound.tables.find(({ name }) => name === 'accounts')?.rows).toBe(1)
  overwritten.reads = 4
  expect(environmentStats(dir)).toEqual(sound)
})

it('store/environmentStats: a page that stays damaged is DATADIR_DAMAGED', () => {
  overwritten.reads = 5
  expect(() => environmentStats(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_DAMAGED' }))
  expect(overwritten.reads).toBe(0)
})
