import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readGenesisId } from '#blockchain/chainStore'
import { buildSegments } from '#blockchain/segments/buildSegments'
import { u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { putSegment, segmentTables, writeMoved } from '#store/segments/segmentRecords'
import { storedChain } from '#test/harness/store/storedChain'
import { compactDatabase } from './compact.ts'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-database-segments-'))
const sound = join(base, 'sound')
let copies = 0
beforeAll(async () => {
  await storedChain(sound, 30)
  const dir = join(sound, 'chain')
  await using kv = openChainKv(dir)
  using reader = kv.snapshot()
  const genesis = readGenesisId(reader)?.hash ?? expect.fail()
  const bounds = { blocks: 10, rowBytes: 2 ** 20, windowSec: 86_400 }
  for (const from of [0, 10]) {
    const built = buildSegments(kv, { dir: segmentsDir(dir), genesis, from, upTo: from + 9, bounds }) ?? expect.fail()
    kv.write((tx) => {
      for (const record of built.records) putSegment(tx, record)
      writeMoved(tx, built.last + 1)
      for (const { id } of segmentTables) for (const key of tx.keys(id, { to: u64Bytes(built.last + 1) })) tx.delete(id, key)
    })
  }
}, 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

const { signal } = new AbortController()
const verify = (datadir: string) => verifyDatabase({ clock: systemClock, signal, onProgress() {} }, { datadir })

/** Returns a copy whose second file of a table is changed. */
function changed(table: string, change: (path: string) => void): { readonly datadir: string; readonly path: string } {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(sound, datadir, { recursive: true })
  const dir = segmentsDir(join(datadir, 'chain'))
  const path = join(dir, readdirSync(dir).find((name) => name.startsWith(`${table}-000000000010`)) ?? expect.fail())
  change(path)
  return { datadir, path }
}

function flip(path: string): void {
  const bytes = readFileSync(path)
  bytes[200] = (bytes[200] ?? 0) ^ 4
  writeFileSync(path, bytes)
}

it('database/verify: finds nothing in blocks that moved to segment files', async () => {
  expect(await verify(sound)).toMatchObject({ done: true, found: 0, head: { number: 30 } })
})

it.each([
  ['a flipped byte in headers', 'headers', flip],
  ['a flipped byte in bodies', 'bodies', flip],
  ['a flipped byte in receipts', 'receipts', flip],
  ['a truncated file', 'receipts', (path: string) => truncateSync(path, 300)],
  ['a missing file', 'bodies', (path: string) => unlinkSync(path)],
])('database/verify: names the segment file with %s', async (_what, table, change) => {
  const { datadir, path } = changed(table, change)
  const { found, differences } = await verify(datadir)
  expect(found).toBeGreaterThan(0)
  expect(differences.every(({ table: of, found: text }) => of !== 'segments' || text.includes(path))).toBe(true)
  expect(differences.some(({ table: of }) => of === 'segments')).toBe(true)
})

it('database/compact: keeps the segment files and their records', async () => {
  const { datadir } = changed('bodies', () => {})
  await compactDatabase({ clock: systemClock, signal, onProgress() {} }, datadir)
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0 })
})
