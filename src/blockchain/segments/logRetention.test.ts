import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openChainKv, segmentsDir } from '#store/chainTables'
import { tables } from '#store/tables'
import { allLogs, differencesIn, indexedStore, keysIn, logFiles, logsIn, moveAll, rangesIn, read } from '#test/harness/store/movedLogs'
import { fileOf, genesis, killed, moverOn, seen } from '#test/harness/store/movingStore'
import { readLogsPruned } from '../logIndex/logIndex.ts'
import { buildSegments } from './buildSegments.ts'
import type { RowRetention } from './rowPruner.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-log-mover-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
afterAll(() => rmSync(base, { recursive: true }))

it('blockchain/segments/rowPruner: removes files of the log index that are not retained, and segments in the table', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const rows: RowRetention = { bodies: 'all', receipts: 'all', logs: { blocks: 22 } }
  const { run, settle, mover } = moverOn(dir, kv, { rows })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  // the file with block 18 stays whole
  expect(rangesIn(kv)).toEqual([[16, 23]])
  expect(read(kv, readLogsPruned)).toBe(16)
  expect(logFiles(dir)).toHaveLength(3)
  await settle()
  expect(logFiles(dir)).toHaveLength(1)
  expect(read(kv, (reader) => logsIn(reader, 16))).toEqual(allLogs(16))
  expect(differencesIn(kv)).toEqual([])
})

it('blockchain/segments/rowPruner: a retention below the files removes them all, then segments of the table', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const { run, settle, mover } = moverOn(dir, kv, { rows: { bodies: 'all', receipts: 'all', logs: { blocks: 8 } } })
  await using _mover = mover
  for (let times = 0; times < 6; times++) await run()
  await settle()
  expect([rangesIn(kv), logFiles(dir), read(kv, readLogsPruned)]).toEqual([[], [], 32])
  expect(read(kv, (reader) => logsIn(reader, 32))).toEqual(allLogs(32))
  expect(keysIn(kv).every((key) => Number.parseInt(key.slice(4, 20), 16) >= 32)).toBe(true)
  expect(seen(kv)).toHaveLength(41)
})

it('blockchain/segments/rowPruner: a damaged file of the log index is removed like others', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  truncateSync(fileOf(dir, 'logIndex', 0), 100)
  truncateSync(fileOf(dir, 'logIndex', 16), 100)
  const { run, settle, mover } = moverOn(dir, kv, { rows: { bodies: 'all', receipts: 'all', logs: { blocks: 22 } } })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  await settle()
  expect(rangesIn(kv)).toEqual([[16, 23]])
})

it('blockchain/segments/rowPruner: a kill between any two effects of the retention of logs leaves each search complete from the oldest logs on', async () => {
  const dir = newDir()
  const copies: string[] = []
  await using kv = indexedStore(dir)
  await moveAll(dir, kv)
  const rows: RowRetention = { bodies: 'all', receipts: 'all', logs: { blocks: 8 } }
  const { run, mover } = moverOn(dir, kv, { rows, onEffect: () => void copies.push(killed(dir, newDir())) })
  await using _mover = mover
  for (let times = 0; times < 4; times++) await run()
  expect(copies.length).toBeGreaterThan(6)
  for (const copy of copies) {
    await using again = openChainKv(copy)
    const oldest = read(again, readLogsPruned)
    expect(read(again, (reader) => logsIn(reader, oldest))).toEqual(allLogs(oldest))
    expect(differencesIn(again)).toEqual([])
    await moveAll(copy, again, rows)
    expect(rangesIn(again)).toEqual([])
    expect(read(again, (reader) => logsIn(reader, 32))).toEqual(allLogs(32))
  }
}, 60_000)

it('blockchain/segments: retention that begins during a build of the log index ends the build without a file', async () => {
  const dir = newDir()
  await using kv = indexedStore(dir)
  const request = { of: 'logs' as const, dir: segmentsDir(dir), genesis: genesis.block.hash, from: 0, upTo: 29 }
  let looks = 0
  const built = buildSegments(kv, request, () => {
    if (++looks === 2)
      kv.write((tx) => tx.put(tables.meta.id, new TextEncoder().encode('logs.pruned'), Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 4)))
    return false
  })
  expect([built, looks]).toEqual([undefined, 2])
  expect(existsSync(segmentsDir(dir)) ? readdirSync(segmentsDir(dir)) : []).toEqual([])
})
