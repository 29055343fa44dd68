import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { concatBytes, equalBytes, u32At, u64Bytes, u64FromBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { openLmdbKv } from '#store/lmdbKv'
import type { KvReader, KvWriter } from '#store/ports'
import { type TableSpec, tables } from '#store/tables'
import { indexAsSchema5 } from '#test/harness/chain/olderSchemas'
import { sampleOf } from '#test/harness/sample'
import { storedChain } from '#test/harness/store/storedChain'
import { verifyDatabase } from './verify.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-verify-'))
const sound = join(base, 'sound')
/** 83 blocks index the history of 80, so that the sender's account has a closed chunk. */
const blocks = 83
beforeAll(async () => {
  await storedChain(sound, blocks)
  await forgetOldLogs(sound, 31)
  // the next block indexes the older logs as a segment
  await storedChain(sound, blocks + 1)
}, 60_000)
const head = blocks + 1
/** A chain without merged runs and closed chunks, for the tables that hold no history: a verification takes a third of the time. */
const short = join(base, 'short')
beforeAll(() => storedChain(short, 24), 60_000)
const historyTables = ['changes', 'historyIndex', 'nodeHistory', 'logIndex', 'meta']

/** Removes the blocks before a number from the log index, as in a store of an earlier version. */
async function forgetOldLogs(datadir: string, before: number): Promise<void> {
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  kv.write((tx) => {
    const mark = tx.get(tables.meta.id, logMark) ?? expect.fail()
    const [, open = 0, entries = 0, transactions = 0] = [0, 8, 16, 24].map((at) => u64FromBytes(mark.subarray(at, at + 8)))
    expect(open).toBe(0)
    const counts = { entries, transactions }
    for (let number = 0; number < before; number++) {
      const row = tx.get(tables.logIndex.id, logRow(number)) ?? expect.fail()
      counts.transactions -= u32At(row, 0)
      counts.entries -= (row.length - 4) / 8
      tx.delete(tables.logIndex.id, logRow(number))
    }
    tx.put(tables.meta.id, logMark, concatBytes(...[before, before, counts.entries, counts.transactions].map(u64Bytes)))
  })
}
afterAll(() => rmSync(base, { recursive: true, force: true }))
let copies = 0

const logMark = Buffer.from('logs.index')
const logRow = (number: number): Uint8Array => concatBytes(Uint8Array.of(2), u64Bytes(number))

/** Returns a copy of a sound data directory after a change. */
async function changed(change: (tx: KvWriter) => void, from = sound): Promise<string> {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(from, datadir, { recursive: true })
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
const flipIn = (table: TableSpec, among: (key: Uint8Array) => boolean, at?: number) => (tx: KvWriter) => {
  const { key, value } = rowIn(tx, table, among)
  tx.put(table.id, key, flipped(value, at))
}
const remove =
  (table: TableSpec, among: (key: Uint8Array) => boolean = () => true) =>
  (tx: KvWriter) =>
    tx.delete(table.id, rowIn(tx, table, among).key)
/** Swaps the values of two rows that differ. */
const swap =
  (table: TableSpec, among: (key: Uint8Array) => boolean = () => true) =>
  (tx: KvWriter) => {
    const rows = rowsOf(tx, table).filter(({ key }) => among(key))
    const one = rowIn(tx, table, among)
    const other = rows.find(({ value }) => value.length > 0 && !equalBytes(value, one.value)) ?? expect.fail()
    tx.put(table.id, one.key, other.value)
    tx.put(table.id, other.key, one.value)
  }
/** Tables of the cases so far. */
const seen = new Set<string>()
const openEnd = new Uint8Array(8).fill(0xff)
const isKind = (kind: number) => (key: Uint8Array) => key[0] === kind
const isOpen = (key: Uint8Array): boolean => equalBytes(key.slice(-8), openEnd)
const isChangeOf = (table: TableSpec) => (key: Uint8Array) => key[8] === table.id
/** Adds a row beside the middle one, with its value. */
const add = (table: TableSpec, at: number) => (tx: KvWriter) => {
  const { key, value } = rowIn(tx, table)
  tx.put(table.id, flipped(key, at), value)
}
/** Makes a change of a row name its deletion, of which the index has no mark. */
const nameDeletion = (tx: KvWriter): void => {
  const { key, value } = rowsOf(tx, tables.changes).find((row) => row.value[0] === 2) ?? expect.fail()
  tx.put(tables.changes.id, key, Uint8Array.of(3, ...value.subarray(1)))
}
const asSchema5 = (tx: KvWriter): void => indexAsSchema5(tx, head)
/** A damage, the table that has it, and the change that makes it. */
type Damage = readonly [string, string, (tx: KvWriter) => void]
const damages: readonly Damage[] = [
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
  ['swapped accounts', 'accounts', swap(tables.accounts)],
  ['swapped slots', 'storage', swap(tables.storage)],
  ['swapped nodes', 'accountNodes', swap(tables.accountNodes)],
  ['swapped headers', 'headers', swap(tables.headers)],
  ['swapped bodies', 'bodies', swap(tables.bodies)],
  ['swapped receipts', 'receipts', swap(tables.receipts)],
  ['swapped positions of transactions', 'txByHash', swap(tables.txByHash)],
  ['a position of an unknown transaction', 'txByHash', add(tables.txByHash, 3)],
  ['a position beyond the end of a block', 'txByHash', add(tables.txByHash, 31)],
  ['a flipped byte in the previous value of an account', 'changes', flipIn(tables.changes, isChangeOf(tables.accounts), 3)],
  ['a flipped byte in the previous value of a slot', 'changes', flipIn(tables.changes, isChangeOf(tables.storage))],
  ['a previous value that names a deletion', 'changes', nameDeletion],
  ['a missing previous value of an account', 'changes', remove(tables.changes, isChangeOf(tables.accounts))],
  ['a missing previous value of a slot', 'changes', remove(tables.changes, isChangeOf(tables.storage))],
  ['an extra previous value', 'changes', add(tables.changes, 8)],
  ['swapped previous values', 'changes', swap(tables.changes, isChangeOf(tables.accounts))],
  ['a flipped byte in the history index', 'historyIndex', flip(tables.historyIndex)],
  ['a flipped high byte in the history index', 'historyIndex', flip(tables.historyIndex, 0)],
  ['a flipped block in a merged run of it', 'historyIndex', flipIn(tables.historyIndex, isKind(0x42), 5)],
  ['a missing slice of a merged run', 'historyIndex', remove(tables.historyIndex, isKind(0x41))],
  ['a slice beyond the end of a run', 'historyIndex', add(tables.historyIndex, 9)],
  ['a missing row of it', 'historyIndex', remove(tables.historyIndex)],
  ['an extra row of it', 'historyIndex', add(tables.historyIndex, 5)],
  ['swapped rows of it', 'historyIndex', swap(tables.historyIndex)],
  ['a flipped byte in the nodes of a block', 'nodeHistory', flipIn(tables.nodeHistory, isKind(0))],
  ['a flipped digest in the nodes of a block', 'nodeHistory', flipIn(tables.nodeHistory, isKind(0), 7)],
  ['a flipped count of the nodes of a block', 'nodeHistory', flipIn(tables.nodeHistory, isKind(0), 3)],
  ['swapped nodes of blocks', 'nodeHistory', swap(tables.nodeHistory, isKind(0))],
  ['a flipped byte in the index of the nodes', 'nodeHistory', flipIn(tables.nodeHistory, isKind(1), 2)],
  ['a missing index of the nodes', 'nodeHistory', remove(tables.nodeHistory, isKind(1))],
  ['a flipped byte in a page of the log index', 'logIndex', flipIn(tables.logIndex, isKind(0))],
  ['a missing page of it', 'logIndex', remove(tables.logIndex, isKind(0))],
  [
    'an extra page of it',
    'logIndex',
    (tx) => tx.put(tables.logIndex.id, new Uint8Array([0, ...u64Bytes(40), ...new Uint8Array(8)]), new Uint8Array(8)),
  ],
  ['a flipped byte in a segment of it', 'logIndex', flipIn(tables.logIndex, isKind(1))],
  ['a missing segment of it', 'logIndex', remove(tables.logIndex, isKind(1))],
  ['a flipped byte in a block of it', 'logIndex', flipIn(tables.logIndex, isKind(2))],
  ['a missing block of it', 'logIndex', remove(tables.logIndex, isKind(2))],
  ['swapped blocks of it', 'logIndex', swap(tables.logIndex, isKind(2))],
  ['a block after the head in it', 'logIndex', (tx) => tx.put(tables.logIndex.id, logRow(head + 1), new Uint8Array(4))],
  [
    'a flipped byte in the mark of the log index',
    'meta',
    (tx) => tx.put(tables.meta.id, logMark, flipped(tx.get(tables.meta.id, logMark) ?? expect.fail())),
  ],
  ['changes after the head', 'changes', (tx) => tx.put(tables.changes.id, new Uint8Array([...u64Bytes(head + 1), 8, 1]), Uint8Array.of(0))],
  [
    'nodes of a block after the head',
    'nodeHistory',
    (tx) => tx.put(tables.nodeHistory.id, new Uint8Array([0, ...u64Bytes(head + 1)]), new Uint8Array(4)),
  ],
  ['missing nodes of a block', 'nodeHistory', (tx) => tx.delete(tables.nodeHistory.id, new Uint8Array([0, ...u64Bytes(30)]))],
  ['a mark of the state above the head', 'meta', (tx) => tx.put(tables.meta.id, Buffer.from('state.indexed'), u64Bytes(99))],
  ['a mark of the state below the head', 'meta', (tx) => tx.put(tables.meta.id, Buffer.from('state.head'), u64Bytes(head - 1))],
]
/** The first case of each table, and every fifth of the others. */
const sampled = damages.filter(([, table], at) => at % 5 === 0 || damages.findIndex((other) => other[1] === table) === at)

describe('database/verify', () => {
  it('database/verify: finds nothing in a sound database, and checks every row', async () => {
    const { done, found, differences, checked, head: last, runs } = await verify(sound)
    expect([done, found, differences, last.number]).toEqual([true, 0, [], head])
    expect(runs).toBe(9)
    await using kv = openLmdbKv(join(sound, 'chain'), Object.values(tables))
    using reader = kv.snapshot()
    const count = (table: TableSpec) => rowsOf(reader, table).length
    expect(checked).toEqual({
      state: count(tables.accounts) + count(tables.storage),
      code: count(tables.code),
      files: 0,
      blocks: head + 1,
      hashes: head + 1,
      transactions: count(tables.txByHash),
      history: head,
      index: count(tables.historyIndex),
      // as many older blocks as the last commit had time for
      logs: head + 1 - u64FromBytes((reader.get(tables.meta.id, logMark) ?? expect.fail()).subarray(0, 8)),
    })
    // merged runs, marks of deleted rows, segments and pages are among the checked rows
    expect(rowsOf(reader, tables.historyIndex).map(({ key }) => key[0])).toEqual(expect.arrayContaining([0x40, 0x41, 0x42]))
    expect(rowsOf(reader, tables.nodeHistory).filter(({ key }) => key[0] === 1)).toHaveLength(1)
    expect(rowsOf(reader, tables.logIndex).map(({ key }) => key[0])).toEqual(expect.arrayContaining([0, 1, 2]))
    expect(count(tables.storage)).toBeGreaterThanOrEqual(40)
    expect(count(tables.storageNodes)).toBeGreaterThan(2)
    expect(count(tables.accountNodes)).toBeGreaterThan(10)
  })

  it.each(sampleOf(sampled, damages))('database/verify: names the table of %s: %s', async (_kind, table, change) => {
    const datadir = await changed(change, historyTables.includes(table) ? sound : short)
    const { done, found, differences } = await verify(datadir)
    expect(done).toBe(true)
    expect(found).toBeGreaterThan(0)
    expect(differences.find((difference) => difference.table === table)).toMatchObject({
      table,
      key: expect.stringMatching(/^0x/),
      remedy: expect.stringContaining('check the disk'),
    })
    if (seen.has(table)) return
    seen.add(table)
    // in runs of one row too
    expect((await verify(datadir, { runMs: 0 })).differences.map((difference) => difference.table)).toContain(table)
  })

  it('database/verify: finds nothing in a sound history index of schema 5', async () => {
    expect((await verify(await changed(asSchema5))).differences).toEqual([])
  })

  it.each<[string, (tx: KvWriter) => void]>([
    ['a flipped byte', flip(tables.historyIndex)],
    ['a flipped byte in a closed chunk', flipIn(tables.historyIndex, (key) => !isOpen(key), 7)],
    ['a missing row', remove(tables.historyIndex)],
    ['an extra row', add(tables.historyIndex, 5)],
    ['swapped rows', swap(tables.historyIndex)],
  ])('database/verify: finds in the history index of schema 5 %s', async (_kind, change) => {
    const { differences } = await verify(
      await changed((tx) => {
        asSchema5(tx)
        change(tx)
      }),
    )
    expect(differences[0]).toMatchObject({ table: 'historyIndex' })
  })

  it('database/verify: checks the same rows in runs of one row, and continues after interruptions', async () => {
    const whole = await verify(sound)
    const single = await verify(sound, { runMs: 0 })
    expect(single).toMatchObject({ done: true, resumed: false, found: 0, checked: whole.checked })
    const rows = Object.values(whole.checked).reduce((sum, count) => sum + count, 0)
    expect(single.runs).toBeGreaterThan(rows / 2)

    let last = await verify(sound, { runMs: 0, runs: 5 })
    expect(last).toMatchObject({ done: false, resumed: false })
    let parts = 1
    for (; !last.done; parts++) last = await verify(sound, { runMs: 0, runs: 17 })
    expect(parts).toBeGreaterThan(10)
    expect(last).toMatchObject({ resumed: true, found: 0, checked: whole.checked })
    expect(existsSync(join(sound, 'db-verify.json'))).toBe(false)
  })

  it('database/verify: completes when the position can be neither written nor removed, and reports it once (VERIFY_NOT_SAVED)', async () => {
    const datadir = await changed(() => {}, short)
    mkdirSync(join(datadir, 'db-verify.json'))
    const faults: unknown[] = []
    let [nowMs, runs] = [0, 0]
    const stop = new AbortController()
    const deps = {
      // each look ends a run, and the position is due after it
      clock: { ...systemClock, elapsedMs: () => (nowMs += 11_000) },
      signal: stop.signal,
      onProgress: (): void => void runs++,
      onNotSaved: (error: unknown): void => void faults.push(error),
    }
    expect(await verifyDatabase(deps, { datadir })).toMatchObject({ done: true, saved: true, found: 0 })
    expect(runs).toBeGreaterThan(10)
    expect(faults).toEqual([expect.objectContaining({ code: 'VERIFY_NOT_SAVED' })])
    stop.abort()
    expect(await verifyDatabase(deps, { datadir })).toMatchObject({ done: false, saved: false, resumed: false })
  })

  it('database/verify: keeps the differences of an interrupted verification, and forgets them with restart', async () => {
    const datadir = await changed(remove(tables.accounts))
    const half = await verify(datadir, { runMs: 0, runs: 100 })
    expect(half).toMatchObject({ done: false, found: 1 })
    const { differences, ...whole } = await verify(datadir)
    expect([whole, differences[0]]).toMatchObject([{ done: true, resumed: true }, half.differences[0] ?? {}])
    await verify(datadir, { runMs: 0, runs: 1 })
    expect(await verify(datadir, { restart: true })).toMatchObject({ done: true, resumed: false, found: whole.found })
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
    for (let blocks = 21; blocks <= 60; blocks += 13) {
      expect(await verify(datadir, { runMs: 0, runs: 40 })).toMatchObject({ done: false, found: 0 })
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
    // three transactions in each block, and the same deposit in each tenth
    expect(found).toBe(3 * head + Math.floor((head + 5) / 10))
  })
})
