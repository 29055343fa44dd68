import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { putHeads, readCanonicalHash, readHeader, readHeads, readHeadsSequence } from '#blockchain/chainStore'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { stateAt } from '#state/chainState'
import { openLmdbKv } from '#store/lmdbKv'
import type { Kv } from '#store/ports'
import { tables } from '#store/tables'
import { createManualClock } from '#test/harness/clock'
import { storedChain } from '#test/harness/store/storedChain'
import { type PruneDeps, pruneDatabase } from './prune.ts'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-prune-'))
const original = join(base, 'original')
beforeAll(() => storedChain(original, 40))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const open = (datadir: string): Kv & AsyncDisposable => openLmdbKv(join(datadir, 'chain'), Object.values(tables))
const noProgress = (): void => {}
const deps = (): PruneDeps => ({ clock: systemClock, signal: new AbortController().signal, onProgress: noProgress })

/** A stored chain of 40 blocks, 2 s apart, whose finalized block is given. */
async function chainTo(name: string, finalized: number): Promise<string> {
  const datadir = join(base, name)
  cpSync(original, datadir, { recursive: true })
  await using kv = open(datadir)
  kv.write((tx) => {
    const heads = readHeads(tx) ?? expect.fail()
    const hash = readCanonicalHash(tx, finalized) ?? expect.fail()
    putHeads(tx, { ...heads, safe: { number: finalized, hash }, finalized: { number: finalized, hash } }, readHeadsSequence(tx))
  })
  return datadir
}

/** Returns all accounts and slots as of a block, by key. */
function valuesAt(kv: Kv, number: number): ReadonlyMap<string, unknown> {
  using reader = kv.snapshot()
  const { view } = stateAt(reader, number, () => undefined)
  return new Map<string, unknown>([
    ...[...reader.keys(tables.accounts.id, {})].map((key) => [toHex(key), view.account(key)] as const),
    ...[...reader.keys(tables.storage.id, {})].map((key) => [toHex(key), view.slot(key.subarray(0, 32), key.subarray(32))] as const),
  ])
}

async function historyOf(datadir: string, numbers: readonly number[]): Promise<readonly ReadonlyMap<string, unknown>[]> {
  await using kv = open(datadir)
  return numbers.map((number) => valuesAt(kv, number))
}

it('database/prune: keeps the states of a number of blocks, and the rest of the chain verifies', async () => {
  const datadir = await chainTo('blocks', 38)
  const done = { done: true, finalized: 38, head: 40, isHeldByFinalized: false }
  const before = await historyOf(datadir, [30, 31, 39, 40])
  expect(before[0]).not.toEqual(before[1])
  expect(await pruneDatabase(deps(), datadir, { blocks: 10 })).toEqual({ ...done, oldestStateBefore: 0, oldestState: 30 })
  expect(await pruneDatabase(deps(), datadir, { blocks: 20 })).toEqual({ ...done, oldestStateBefore: 30, oldestState: 30 })
  expect(await pruneDatabase(deps(), datadir, { blocks: 1_000 })).toMatchObject({ oldestState: 30 })
  expect(await historyOf(datadir, [30, 31, 39, 40])).toEqual(before)
  await expect(historyOf(datadir, [29])).rejects.toMatchObject({ code: 'HISTORY_PRUNED' })
  const options = { datadir, restart: true }
  const verified = await verifyDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress: noProgress }, options)
  expect(verified).toMatchObject({ done: true, found: 0 })
})

it('database/prune: keeps the states of a time before the head', async () => {
  const datadir = await chainTo('time', 40)
  const { oldestState } = await pruneDatabase(deps(), datadir, { sec: 11 })
  await using kv = open(datadir)
  using reader = kv.snapshot()
  const timestampOf = (number: number): number =>
    readHeader(reader, { number, hash: readCanonicalHash(reader, number) ?? expect.fail() })?.timestamp ?? expect.fail()
  expect(timestampOf(oldestState)).toBeGreaterThanOrEqual(timestampOf(40) - 11)
  expect(timestampOf(oldestState - 1)).toBeLessThan(timestampOf(40) - 11)
})

it('database/prune: keeps the states of blocks that are not finalized', async () => {
  const datadir = await chainTo('finalized', 12)
  expect(await pruneDatabase(deps(), datadir, { blocks: 0 })).toMatchObject({ done: true, oldestState: 12, isHeldByFinalized: true })
  const young = await chainTo('young', 0)
  expect(await pruneDatabase(deps(), young, { blocks: 1 })).toMatchObject({ oldestState: 0, finalized: 0, isHeldByFinalized: true })
})

it('database/prune: counts from the published chain when the node was stopped while it removed replaced blocks', async () => {
  const datadir = await chainTo('replaced', 38)
  {
    await using kv = open(datadir)
    kv.write((tx) => putHeads(tx, { ...(readHeads(tx) ?? expect.fail()), base: 39 }, readHeadsSequence(tx)))
  }
  expect(await pruneDatabase(deps(), datadir, { blocks: 10 })).toMatchObject({ done: true, head: 39, oldestState: 29 })
})

it('database/prune: works in steps, shows its progress, and continues after an interruption', async () => {
  const datadir = await chainTo('steps', 40)
  const abort = new AbortController()
  const seen: [number, number][] = []
  const manual = createManualClock()
  let ms = 0
  // each look at the time ends a step
  const clock = { ...manual, elapsedMs: () => (ms += 30) }
  const onProgress = (blocks: number, ofBlocks: number): void => {
    seen.push([blocks, ofBlocks])
    if (seen.length === 2) abort.abort()
  }
  expect(await pruneDatabase({ clock, signal: abort.signal, onProgress }, datadir, { blocks: 5 })).toMatchObject({ done: false })
  expect(seen).toHaveLength(2)
  const { signal } = new AbortController()
  const result = await pruneDatabase({ clock, signal, onProgress }, datadir, { blocks: 5 })
  expect(result).toMatchObject({ done: true, oldestStateBefore: 35, oldestState: 35 })
  expect(seen.length).toBeGreaterThan(4)
  const [blocks, ofBlocks] = seen.at(-1) ?? []
  expect(blocks).toBe(ofBlocks)
})

it('database/prune: refuses a directory without a database, and one that a node uses', async () => {
  await expect(pruneDatabase(deps(), join(base, 'none'), { blocks: 1 })).rejects.toMatchObject({ code: 'DATABASE_MISSING' })
  const datadir = await chainTo('locked', 3)
  await using _kv = open(datadir)
  await expect(pruneDatabase(deps(), datadir, { blocks: 1 })).rejects.toMatchObject({ code: 'DATADIR_LOCKED' })
})
