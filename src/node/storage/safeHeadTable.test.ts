import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createSafeHeadStore } from '#consensus/safeHeadStore'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { consensusTables } from '#store/tables'
import { orderedTableContract } from '#test/contract/orderedTable'
import { hashOf } from '#test/harness/chain/blocks'
import { createMemoryTable } from '#test/harness/consensus/execution'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { safeHeadTable } from './safeHeadTable.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-safe-heads-'))
afterAll(() => rmSync(base, { recursive: true }))

const { safeHeads, meta } = consensusTables
let dirs = 0
const openLmdb = (dir = join(base, String(dirs++))): Kv => openLmdbKv(dir, Object.values(consensusTables))
const over = async (kv: Kv) => ({
  table: safeHeadTable(kv, safeHeads.id),
  [Symbol.asyncDispose]: () => kv[Symbol.asyncDispose](),
})

orderedTableContract('memory', () => over(createMemoryKv()))
orderedTableContract('lmdb', () => over(openLmdb()))
orderedTableContract('test double', async () => ({ table: createMemoryTable(), [Symbol.asyncDispose]: async () => {} }))

it('node/storage/safeHeadTable: reads and writes its own table only', async () => {
  await using kv = openLmdb()
  const row = { key: Uint8Array.of(5), value: Uint8Array.of(5) }
  kv.write((tx) => tx.put(meta.id, row.key, row.value))
  const table = safeHeadTable(kv, safeHeads.id)
  table.write({ deleteAfter: new Uint8Array(0), puts: [] })
  expect(table.floor(Uint8Array.of(255))).toBeUndefined()
  using snapshot = kv.snapshot()
  expect(snapshot.get(meta.id, row.key)).toEqual(row.value)
})

it('node/storage/safeHeadTable: has its entries after the store was closed and opened again', async () => {
  const dir = join(base, 'again')
  const entry = { l1: { number: 7, hash: hashOf('L1') }, safe: { number: 3, hash: hashOf('L2') } }
  {
    await using kv = openLmdb(dir)
    createSafeHeadStore(safeHeadTable(kv, safeHeads.id)).append([entry])
  }
  await using kv = openLmdb(dir)
  expect(createSafeHeadStore(safeHeadTable(kv, safeHeads.id)).last()).toEqual(entry)
})
