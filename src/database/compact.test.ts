import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { u64Bytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { storedChain } from '#test/harness/store/storedChain'
import { compactDatabase } from './compact.ts'
import { verifyDatabase } from './verify.ts'

const disk = vi.hoisted(() => ({ freeBytes: Number.POSITIVE_INFINITY }))
vi.mock('../store/freeSpace.ts', async (importOriginal) => ({ ...(await importOriginal<object>()), freeBytes: () => disk.freeBytes }))

const base = mkdtempSync(join(tmpdir(), 'basalt-compact-'))
const original = join(base, 'original')
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** A chain, and free pages in its file. */
beforeAll(async () => {
  await storedChain(original, 30)
  await using kv = openLmdbKv(join(original, 'chain'), Object.values(tables))
  const keys = Array.from({ length: 300 }, (_, at) => new Uint8Array([...u64Bytes(at), ...new Uint8Array(24)]))
  kv.write((tx) => {
    for (const key of keys) tx.put(tables.code.id, key, new Uint8Array(10_000))
  })
  kv.write((tx) => {
    for (const key of keys) tx.delete(tables.code.id, key)
  })
  kv.write((tx) => tx.put(tables.meta.id, Buffer.from('test'), Uint8Array.of(1)))
})

let copies = 0
function newCopy(): string {
  const datadir = join(base, `copy ${copies++}`)
  cpSync(original, datadir, { recursive: true })
  return datadir
}
const fileBytes = (datadir: string): number => statSync(join(datadir, 'chain', 'data.mdb')).size
const watch = { clock: systemClock, signal: new AbortController().signal, onProgress: (): void => {} }

/** Opens the database as a node does, and returns all of its rows. */
async function rowsOf(datadir: string): Promise<Map<string, string>> {
  await using kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  using reader = kv.snapshot()
  const rows = new Map<string, string>()
  for (const { id, name } of Object.values(tables))
    for (const { key, value } of reader.range(id, {})) rows.set(`${name} ${toHex(key)}`, toHex(value))
  return rows
}
const verify = (datadir: string) => verifyDatabase({ clock: systemClock, signal: watch.signal, onProgress: () => {} }, { datadir })

it('database/compact: keeps every row in a smaller file, which the chain continues', async () => {
  const datadir = newCopy()
  const before = await rowsOf(original)
  const progress: number[] = []
  const sizes = await compactDatabase({ ...watch, onProgress: (bytes) => void progress.push(bytes) }, datadir)
  expect(progress.length).toBeGreaterThan(0)
  expect(sizes).toEqual({ bytesBefore: fileBytes(original), bytesAfter: fileBytes(datadir) })
  expect(fileBytes(datadir)).toBeLessThan(fileBytes(original) / 2)
  expect(await rowsOf(datadir)).toEqual(before)
  expect(existsSync(join(datadir, 'chain', 'compact'))).toBe(false)
  await storedChain(datadir, 40)
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, head: { number: 40 } })
  const grownBytes = fileBytes(datadir)
  expect(await compactDatabase(watch, datadir)).toEqual({ bytesBefore: grownBytes, bytesAfter: fileBytes(datadir) })
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0, head: { number: 40 } })
})

it('database/compact: refuses a running node (DATADIR_LOCKED), a reader (DATADIR_READ), no database (DATABASE_MISSING)', async () => {
  const datadir = newCopy()
  const dir = join(datadir, 'chain')
  {
    await using _kv = openLmdbKv(dir, Object.values(tables))
    await expect(compactDatabase(watch, datadir)).rejects.toMatchObject({ code: 'DATADIR_LOCKED' })
  }
  const script = `
    import { openLmdbReader } from '#store/lmdbReader'
    import { tables } from '#store/tables'
    const source = openLmdbReader(${JSON.stringify(dir)}, Object.values(tables))
    const snapshot = source.snapshot()
    process.stdout.write('open')
    setInterval(() => snapshot, 1000)`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await expect(compactDatabase(watch, datadir)).rejects.toMatchObject({ code: 'DATADIR_READ', data: { pid: child.pid } })
  child.kill('SIGKILL')
  await once(child, 'exit')
  // the entry of a killed reader does not count
  expect(await compactDatabase(watch, datadir)).toEqual({ bytesBefore: fileBytes(original), bytesAfter: fileBytes(datadir) })
  expect(fileBytes(datadir)).toBeLessThan(fileBytes(original) / 2)
  await expect(compactDatabase(watch, join(base, 'none'))).rejects.toMatchObject({ code: 'DATABASE_MISSING' })
})

it('database/compact: leaves the database as it is when it is interrupted, and when the copy cannot be verified', async () => {
  const datadir = newCopy()
  const stop = new AbortController()
  stop.abort()
  expect(await compactDatabase({ ...watch, signal: stop.signal }, datadir)).toBeUndefined()
  const onStep = (): never => {
    throw new Error('Input/output error')
  }
  await expect(compactDatabase({ ...watch, onStep }, datadir)).rejects.toMatchObject({ code: 'STORE_FAILED' })
  expect(fileBytes(datadir)).toBe(fileBytes(original))
  expect(existsSync(join(datadir, 'chain', 'compact'))).toBe(false)
  expect(await verify(datadir)).toMatchObject({ found: 0 })
})

it.each(['copied', 'flushed', 'checked'])(
  'database/compact: an interruption while it has %s ends it without a further step',
  async (last) => {
    const datadir = newCopy()
    const stop = new AbortController()
    const steps: string[] = []
    const onStep = (step: string): void => {
      steps.push(step)
      if (step === last) stop.abort()
    }
    expect(await compactDatabase({ ...watch, signal: stop.signal, onStep }, datadir)).toBeUndefined()
    expect(steps.at(-1)).toBe(last)
    expect(fileBytes(datadir)).toBe(fileBytes(original))
    expect(existsSync(join(datadir, 'chain', 'compact'))).toBe(false)
  },
)

it('database/compact: refuses a disk without room for the copy (NO_ROOM_FOR_COPY)', async () => {
  const datadir = newCopy()
  disk.freeBytes = 64 * 2 ** 20
  try {
    await expect(compactDatabase(watch, datadir)).rejects.toMatchObject({ code: 'NO_ROOM_FOR_COPY', data: { freeBytes: 64 * 2 ** 20 } })
  } finally {
    disk.freeBytes = Number.POSITIVE_INFINITY
  }
  expect(existsSync(join(datadir, 'chain', 'compact'))).toBe(false)
  expect(fileBytes(datadir)).toBe(fileBytes(original))
})

it.each([
  ['copied', 'old'],
  ['flushed', 'old'],
  ['checked', 'old'],
  ['unlocked', 'old'],
  ['swapped', 'new'],
])('database/compact: a kill after it has %s leaves the %s file, and no row is lost', async (step, kept) => {
  const datadir = newCopy()
  const script = `
    import { compactDatabase } from '#database/compact'
    import { systemClock } from '#lib/clock'
    const onStep = (step) => { if (step === ${JSON.stringify(step)}) process.kill(process.pid, 'SIGKILL') }
    await compactDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress() {}, onStep }, ${JSON.stringify(datadir)})`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: 'inherit' })
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  const left = join(datadir, 'chain', 'compact')
  expect(existsSync(left)).toBe(true)
  expect(fileBytes(datadir) === fileBytes(original) ? 'old' : 'new').toBe(kept)
  expect(await rowsOf(datadir)).toEqual(await rowsOf(original))
  // the start of a node removes it
  expect(existsSync(left)).toBe(false)
  expect(await verify(datadir)).toMatchObject({ done: true, found: 0 })
  expect(await compactDatabase(watch, datadir)).toMatchObject({ bytesAfter: fileBytes(datadir) })
  expect(fileBytes(datadir)).toBeLessThan(fileBytes(original) / 2)
  expect(await rowsOf(datadir)).toEqual(await rowsOf(original))
})

it('database/compact: leaves a database in which the next transaction may change any number of pages', async () => {
  const datadir = newCopy()
  const dir = join(datadir, 'chain')
  // two rows fill a page
  const keys = Array.from({ length: 800 }, (_, at) => new Uint8Array([...u64Bytes(at), ...new Uint8Array(24)]))
  const fill = async (byte: number): Promise<void> => {
    await using kv = openLmdbKv(dir, Object.values(tables))
    kv.write((tx) => {
      for (const key of keys) tx.put(tables.code.id, key, new Uint8Array(1_900).fill(byte))
    })
  }
  await fill(1)
  await compactDatabase({ clock: systemClock, signal: new AbortController().signal, onProgress(): void {} }, datadir)
  await fill(2)
  await using kv = openLmdbKv(dir, Object.values(tables))
  using reader = kv.snapshot()
  expect(keys.every((key) => reader.get(tables.code.id, key)?.every((byte) => byte === 2))).toBe(true)
})
