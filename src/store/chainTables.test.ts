import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { hashFromBytes } from '#types/ids'
import { openChainKv, segmentsDir } from './chainTables.ts'
import { agreeOnSchema, chainSchema } from './schema.ts'
import { deleteSegment, putSegment, segmentFileName, writeMoved, writePruned } from './segments/segmentRecords.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-lost-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const hash = hashFromBytes(new Uint8Array(32).fill(0x11))
const record = { table: 3, first: 0, last: 9, firstHash: hash, lastHash: hash, digest: 'ab'.repeat(32), fileBytes: 3, rowBytes: 3 }

/** Flips the lowest bit of the zero byte after a name in the newest list of tables. */
function flipEnd(path: string, table: string): void {
  const file = readFileSync(path)
  const meta = file.readBigUInt64LE(152) > file.readBigUInt64LE(4_096 + 152) ? 0 : 4_096
  const root = Number(file.readBigUInt64LE(meta + 96 + 40)) * 4_096
  const at = file.subarray(root, root + 4_096).indexOf(`${table}\0`, 'latin1')
  expect(at).toBeGreaterThan(0)
  const end = root + at + table.length
  file[end] = (file[end] as number) ^ 1
  writeFileSync(path, file)
}

async function makeChain(dir: string): Promise<string> {
  await using kv = openChainKv(dir)
  agreeOnSchema(kv, chainSchema)
  mkdirSync(segmentsDir(dir), { recursive: true })
  const path = join(segmentsDir(dir), segmentFileName(record))
  writeFileSync(path, 'abc')
  kv.write((tx) => putSegment(tx, record))
  return path
}

it('store/chainTables: a flipped bit at the end of the name of the table of records does not remove all segment files', async () => {
  const dir = join(base, 'segments')
  const path = await makeChain(dir)
  flipEnd(join(dir, 'data.mdb'), 'segments.sums')
  expect(() => openChainKv(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_DAMAGED' }))
  expect(existsSync(path)).toBe(true)
})

it('store/schema: a flipped bit at the end of the name of the table of marks does not make the chain a new one', async () => {
  const dir = join(base, 'meta')
  const path = await makeChain(dir)
  flipEnd(join(dir, 'data.mdb'), 'meta.sums')
  expect(() => openChainKv(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_DAMAGED' }))
  expect(existsSync(path)).toBe(true)
})

it('store/chainTables: a segment file of moved blocks whose record is missing is a fault, and stays', async () => {
  const dir = join(base, 'record')
  const path = await makeChain(dir)
  {
    await using kv = openChainKv(dir)
    kv.write((tx) => {
      writeMoved(tx, 10)
      deleteSegment(tx, record)
    })
  }
  expect(() => openChainKv(dir)).toThrow(
    expect.objectContaining({ code: 'STORE_DAMAGED', message: expect.stringContaining(segmentFileName(record)) }),
  )
  expect(existsSync(path)).toBe(true)
})

it('store/chainTables: a segment file of blocks that were not moved, or that retention has removed, goes at the start', async () => {
  for (const [name, moved, pruned] of [
    ['kill', 0, 0],
    ['pruned', 10, 10],
  ] as const) {
    const dir = join(base, name)
    const path = await makeChain(dir)
    {
      await using kv = openChainKv(dir)
      kv.write((tx) => {
        writeMoved(tx, moved)
        writePruned(tx, record.table, pruned)
        deleteSegment(tx, record)
      })
    }
    {
      await using _kv = openChainKv(dir)
    }
    expect([name, existsSync(path)]).toEqual([name, false])
  }
})
