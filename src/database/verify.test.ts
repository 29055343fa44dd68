import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { openLmdbKv } from '#store/lmdbKv'
import type { KvReader, KvWriter } from '#store/ports'
import { type TableSpec, tables } from '#store/tables'
import { storedChain } from '#test/harness/store/storedChain'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-verify-'))
const sound = join(base, 'sound')
beforeAll(() => storedChain(sound, 60))
afterAll(() => rmSync(base, { recursive: true, force: true }))
let copies = 0

/** Returns a copy of the sound data directory after a change. */
async function changed(change: (tx: KvWriter) => void): Promise<string> {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(sound, datadir, { recursive: true })
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  kv.write(change)
  return datadir
}

/** @param runs ends the verification after this many snapshots */
async function verify(datadir: string, { runMs = 60_000, runs = Number.POSITIVE_INFINITY, restart = false } = {}) {
  const stop = new AbortController()
  let count = 0
  const onProgress = (): void => {
    if (++count > 10_000) throw new Error('the verification makes no progress')
    if (count >= runs) stop.abort()
  }
  const result = await verifyDatabase({ clock: systemClock, signal: stop.signal, onProgress }, { datadir, runMs, restart })
  return { ...result, runs: count }
}

const rowsOf = (reader: KvReader, table: TableSpec) => [...reader.range(table.id, {})]
/** Returns the middle row of a table. */
function rowIn(reader: KvReader, table: TableSpec, among: (key: Uint8Array) => boolean = () => true) {
  const rows = rowsOf(reader, table).filter(({ key }) => among(key))
  const row = rows[rows.length >> 1]
  if (row === undefined) throw new Error(`no row in ${table.name}`)
  return row
}
function flipped(bytes: Uint8Array, at = bytes.length - 1): Uint8Array {
  const copy = bytes.slice()
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
const flip = (table: TableSpec, at?: number) => (tx: KvWriter) => {
  const { key, value } = rowIn(tx, table)
  tx.put(table.id, key, flipped(value, at))
}
const remove = (table: TableSpec) => (tx: KvWriter) => tx.delete(table.id, rowIn(tx, table).key)
/** Adds a row beside the middle one, with its value. */
const add = (table: TableSpec, at: number) => (tx: KvWriter) => {
  const { key, value } = rowIn(tx, table)
  tx.put(table.id, flipped(key, at), value)
}
describe('database/verify', () => {
  it('database/verify: finds nothing in a sound database, and checks every row', async () => {
    const { done, found, differences, checked, head, runs } = await verify(sound)
    expect([done, found, differences, head.number]).toEqual([true, 0, [], 60])
    expect(runs).toBe(4)
    await using kv = openLmdbKv(join(sound, 'chain'), Object.values(tables))
    using reader = kv.snapshot()
    const count = (table: TableSpec) => rowsOf(reader, table).length
    expect(checked).toEqual({
      state: count(tables.accounts) + count(tables.storage),
      code: count(tables.code),
      blocks: 61,
      hashes: 61,
    })
    expect(count(tables.storage)).toBeGreaterThanOrEqual(40)
    expect(count(tables.storageNodes)).toBeGreaterThan(2)
    expect(count(tables.accountNodes)).toBeGreaterThan(10)
  })

  it.each<[string, string, (tx: KvWriter) => void]>([
    ['a flipped byte in an account', 'accounts', flip(tables.accounts)],
    ['a missing account', 'accounts', remove(tables.accounts)],
    ['an extra account', 'accounts', add(tables.accounts, 31)],
    ['an extra account far from others', 'accounts', add(tables.accounts, 0)],
    ['a flipped byte in a slot', 'storage', flip(tables.storage)],
    ['a missing slot', 'storage', remove(tables.storage)],
    ['an extra slot', 'storage', add(tables.storage, 63)],
    ['a slot of an account that does not exist', 'storage', add(tables.storage, 31)],
    ['a slot after all accounts', 'storage', (tx) => tx.put(tables.storage.id, new Uint8Array(64).fill(0xff), Uint8Array.of(1))],
    ['a flipped byte in an account node', 'accountNodes', flip(tables.accountNodes)],
    ['a missing account node', 'accountNodes', remove(tables.accountNodes)],
    [
      'an extra account node',
      'accountNodes',
      (tx) => tx.put(tables.accountNodes.id, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 0x10), Uint8Array.of(1)),
    ],
    ['a flipped byte in a storage node', 'storageNodes', flip(tables.storageNodes)],
    ['a missing storage node', 'storageNodes', remove(tables.storageNodes)],
    ['an extra storage node', 'storageNodes', add(tables.storageNodes, 31)],
    ['flipped bytes in code', 'code', flip(tables.code)],
    ['missing code', 'code', remove(tables.code)],
    ['a flipped byte in a header', 'headers', flip(tables.headers)],
    ['a missing header', 'headers', remove(tables.headers)],
    ['a header beside the canonical one', 'headers', add(tables.headers, 39)],
    ['a flipped byte in a body', 'bodies', flip(tables.bodies)],
    ['flipped offsets of a body', 'bodies', flip(tables.bodies, 0)],
    ['a missing body', 'bodies', remove(tables.bodies)],
    ['a flipped byte in receipts', 'receipts', flip(tables.receipts)],
    ['a flipped timestamp of receipts', 'receipts', flip(tables.receipts, 1)],
    ['flipped offsets of receipts', 'receipts', flip(tables.receipts, 9)],
    ['missing receipts', 'receipts', remove(tables.receipts)],
    ['a flipped byte in a canonical hash', 'canonical', flip(tables.canonical)],
    ['a missing canonical hash', 'canonical', remove(tables.canonical)],
    ['a flipped byte in the position of a block', 'blockByHash', flip(tables.blockByHash)],
    ['a missing position of a block', 'blockByHash', remove(tables.blockByHash)],
    ['a position of an unknown block', 'blockByHash', add(tables.blockByHash, 3)],
    ['a flipped byte in the position of a transaction', 'txByHash', flip(tables.txByHash)],
    ['a missing position of a transaction', 'txByHash', remove(tables.txByHash)],
    ['changes after the head', 'changes', (tx) => tx.put(tables.changes.id, new Uint8Array([...u64Bytes(61), 8, 1]), Uint8Array.of(0))],
    [
      'nodes of a block after the head',
      'nodeHistory',
      (tx) => tx.put(tables.nodeHistory.id, new Uint8Array([0, ...u64Bytes(61)]), new Uint8Array(4)),
    ],
    ['missing nodes of a block', 'nodeHistory', (tx) => tx.delete(tables.nodeHistory.id, new Uint8Array([0, ...u64Bytes(30)]))],
    ['a mark of the state above the head', 'meta', (tx) => tx.put(tables.meta.id, Buffer.from('state.indexed'), u64Bytes(99))],
    ['a mark of the state below the head', 'meta', (tx) => tx.put(tables.meta.id, Buffer.from('state.head'), u64Bytes(59))],
  ])('database/verify: names the table of %s: %s', async (_kind, table, change) => {
    const datadir = await changed(change)
    const { done, found, differences } = await verify(datadir)
    expect(done).toBe(true)
    expect(found).toBeGreaterThan(0)
    expect(differences[0]).toMatchObject({ table, key: expect.stringMatching(/^0x/), remedy: expect.stringContaining('check the disk') })
    // in runs of one row too
    expect((await verify(datadir, { runMs: 0 })).differences.map((difference) => difference.table)).toContain(table)
  })

  it('database/verify: checks the same rows in runs of one row, and continues after interruptions', async () => {
    const whole = await verify(sound)
    const single = await verify(sound, { runMs: 0 })
    expect(single).toMatchObject({ done: true, resumed: false, found: 0, checked: whole.checked })
    const rows = Object.values(whole.checked).reduce((sum, count) => sum + count, 0)
    expect(single.runs).toBeGreaterThanOrEqual(rows - 4)

    let last = await verify(sound, { runMs: 0, runs: 5 })
    expect(last).toMatchObject({ done: false, resumed: false })
    let parts = 1
    for (; !last.done; parts++) last = await verify(sound, { runMs: 0, runs: 17 })
    expect(parts).toBeGreaterThan(10)
    expect(last).toMatchObject({ resumed: true, found: 0, checked: whole.checked })
    expect(existsSync(join(sound, 'db-verify.json'))).toBe(false)
  })

  it('database/verify: keeps the differences of an interrupted verification, and forgets them with restart', async () => {
    const datadir = await changed(remove(tables.accounts))
    const half = await verify(datadir, { runMs: 0, runs: 100 })
    expect(half).toMatchObject({ done: false, found: 1 })
    expect(await verify(datadir)).toMatchObject({ done: true, resumed: true, found: 1, differences: half.differences })
    await verify(datadir, { runMs: 0, runs: 1 })
    expect(await verify(datadir, { restart: true })).toMatchObject({ done: true, resumed: false, found: 1 })
  })

  it('database/verify: starts over when the file of the position is damaged or of another chain', async () => {
    const path = join(sound, 'db-verify.json')
    for (const text of ['{', '{"version":1,"genesis":"0x00","phase":"blocks"}']) {
      writeFileSync(path, text)
      expect(await verify(sound)).toMatchObject({ done: true, resumed: false, found: 0 })
    }
  })

  it('database/verify: finds nothing while blocks are added between its runs', async () => {
    const datadir = join(base, 'growing')
    await storedChain(datadir, 20)
    for (let blocks = 21; blocks <= 60; blocks += 3) {
      expect(await verify(datadir, { runMs: 0, runs: 9 })).toMatchObject({ done: false, found: 0 })
      await storedChain(datadir, blocks)
    }
    expect(await verify(datadir, { runMs: 0 })).toMatchObject({ done: true, resumed: true, found: 0, head: { number: 60 } })
  })

  it('database/verify: counts all differences and keeps the first twenty', async () => {
    const datadir = await changed((tx) => {
      for (const { key } of rowsOf(tx, tables.txByHash)) tx.delete(tables.txByHash.id, key)
    })
    const { found, differences } = await verify(datadir)
    expect(differences).toHaveLength(20)
    // three transactions in each block, and the same deposit in six of them
    expect(found).toBe(186)
  })
})
