import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { putHeads, readCanonicalHash, readHeads, readHeadsSequence } from '#blockchain/chainStore'
import { concatBytes, u64Bytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv, KvWriter } from '#store/ports'
import { writePruned } from '#store/segments/segmentRecords'
import { type TableSpec, tables } from '#store/tables'
import { createManualClock } from '#test/harness/clock'
import { storedChain } from '#test/harness/store/storedChain'
import { type ExportRange, exportBlocks } from './exportBlocks.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-export-'))
const original = join(base, 'original')
beforeAll(() => storedChain(original, 20), 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))
const open = (datadir: string): Kv => openLmdbKv(join(datadir, 'chain'), Object.values(tables))

type Line = { readonly p: { readonly blockNumber: string; readonly blockHash: string }; readonly root: string }

/** @param pieces ends the export after this many @param onPiece called after each, with the number of blocks so far */
async function exported(
  datadir: string,
  range: ExportRange = {},
  pieces = Number.POSITIVE_INFINITY,
  onPiece: (blocks: number) => void = () => {},
) {
  const stop = new AbortController()
  const lines: Line[] = []
  const progress: [number, number][] = []
  let count = 0
  // each look at the time ends a piece
  const clock = { ...createManualClock(), elapsedMs: () => (count += 2_000) }
  const write = async (text: string): Promise<void> => {
    expect(text.endsWith('\n')).toBe(true)
    lines.push(
      ...text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    )
    onPiece(lines.length)
    if (lines.length >= pieces) stop.abort()
  }
  const onProgress = (...at: [number, number]): void => void progress.push(at)
  const result = await exportBlocks({ clock, signal: stop.signal, write, onProgress }, datadir, range)
  return { result, numbers: lines.map(({ p }) => Number(p.blockNumber)), lines, progress }
}

/** Returns a copy of the data directory after a change. */
async function changed(name: string, change: (tx: KvWriter) => void): Promise<string> {
  const datadir = join(base, name)
  cpSync(original, datadir, { recursive: true })
  await using kv = open(datadir)
  kv.write(change)
  return datadir
}

const rowKey = (tx: KvWriter, number: number): Uint8Array =>
  concatBytes(u64Bytes(number), fromHex(readCanonicalHash(tx, number) ?? expect.fail()))
const rowOf = (tx: KvWriter, { id }: TableSpec, number: number): Uint8Array => tx.get(id, rowKey(tx, number)) ?? expect.fail()

it('database/exportBlocks: writes the blocks after the genesis, or a range of them, with progress', async () => {
  const all = await exported(original)
  expect(all.numbers).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
  const last = { number: 20, hash: all.lines[19]?.p.blockHash }
  expect(all.result).toEqual({ done: true, first: 1, blocks: 20, last })
  expect([all.progress[0], all.progress.at(-1)]).toEqual([
    [1, 20],
    [20, 20],
  ])
  expect((await exported(original, { from: 5, to: 7 })).numbers).toEqual([5, 6, 7])
  expect((await exported(original, { from: 20 })).numbers).toEqual([20])
  expect((await exported(original, {}, 3)).result).toMatchObject({ done: false, blocks: 3, last: { number: 3 } })
})

it.each([{ from: 0 }, { to: 21 }, { from: 9, to: 8 }])('database/exportBlocks: refuses the range %o (EXPORT_RANGE)', async (range) => {
  await expect(exported(original, range)).rejects.toMatchObject({ code: 'EXPORT_RANGE' })
})

it('database/exportBlocks: begins with the first block whose header and body are stored, and refuses earlier ones (EXPORT_RANGE)', async () => {
  const datadir = await changed('pruned', (tx) => {
    writePruned(tx, tables.headers.id, 4)
    writePruned(tx, tables.bodies.id, 7)
    for (let number = 0; number < 4; number++) tx.delete(tables.headers.id, rowKey(tx, number))
    for (let number = 0; number < 7; number++) tx.delete(tables.bodies.id, rowKey(tx, number))
  })
  const { result, numbers } = await exported(datadir)
  expect(result).toMatchObject({ done: true, first: 7, blocks: 14, last: { number: 20 } })
  expect(numbers).toEqual(Array.from({ length: 14 }, (_, at) => at + 7))
  await expect(exported(datadir, { from: 6 })).rejects.toMatchObject({
    code: 'EXPORT_RANGE',
    data: { from: 6, to: 20, first: 7, head: 20 },
  })
})

it.each<[string, string, (tx: KvWriter) => void]>([
  ['without a body', 'BLOCK_DAMAGED', (tx) => tx.delete(tables.bodies.id, rowKey(tx, 7))],
  ['with the body of another', 'BLOCK_DAMAGED', (tx) => tx.put(tables.bodies.id, rowKey(tx, 7), rowOf(tx, tables.bodies, 8))],
  ['with the header of another', 'BLOCK_DAMAGED', (tx) => tx.put(tables.headers.id, rowKey(tx, 7), rowOf(tx, tables.headers, 8))],
  [
    'that is not the child of the one before',
    'EXPORT_REORGED',
    (tx) => {
      const hash = fromHex(readCanonicalHash(tx, 9) ?? expect.fail())
      for (const table of [tables.headers, tables.bodies]) tx.put(table.id, concatBytes(u64Bytes(7), hash), rowOf(tx, table, 9))
      tx.put(tables.canonical.id, u64Bytes(7), hash)
    },
  ],
])('database/exportBlocks: stops at a block %s (%s)', async (name, code, change) => {
  const datadir = await changed(name, change)
  await expect(exported(datadir)).rejects.toMatchObject({ code })
})

it('database/exportBlocks: names a reorg to a shorter chain during the export (EXPORT_REORGED)', async () => {
  const datadir = await changed('shorter', () => {})
  await using kv = open(datadir)
  const shorten = (blocks: number): void => {
    if (blocks !== 12) return
    kv.write((tx) => {
      const { unsafe, ...labels } = readHeads(tx) ?? expect.fail()
      const head = { number: 10, hash: readCanonicalHash(tx, 10) ?? expect.fail() }
      putHeads(tx, { ...labels, unsafe: head }, readHeadsSequence(tx))
      for (let number = 11; number <= unsafe.number; number++) tx.delete(tables.canonical.id, u64Bytes(number))
    })
  }
  await expect(exported(datadir, {}, Number.POSITIVE_INFINITY, shorten)).rejects.toMatchObject({
    code: 'EXPORT_REORGED',
    data: { number: 13 },
  })
})
