import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { kvContract } from '#test/contract/kv'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { freeBytes, requireFreeSpace } from './freeSpace.ts'
import { storeFailure } from './lmdb/failure.ts'
import { openLmdbKv } from './lmdbKv.ts'
import { openOverlayKv } from './overlayKv.ts'
import type { Kv } from './ports.ts'
import { tables } from './tables.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-kv-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const specs = Object.values(tables)
const openLmdb = (dir = newDir()): Kv => openLmdbKv(dir, specs)
const key = Uint8Array.of(1)
const table = tables.accounts.id

afterAll(() => rmSync(base, { recursive: true, force: true }))

kvContract('memory', createMemoryKv)
kvContract('lmdb', () => openLmdb())
kvContract('overlay', () => openOverlayKv(newDir(), specs, createMemoryKv()))

describe('store/lmdbKv', () => {
  it('store/lmdbKv: committed rows are read after a reopen', async () => {
    const dir = newDir()
    {
      await using kv = openLmdb(dir)
      kv.write((tx) => tx.put(table, key, key))
    }
    await using again = openLmdb(dir)
    using snapshot = again.snapshot()
    expect(snapshot.get(table, key)).toEqual(key)
  })

  it('store/lmdbKv: creates directories for their owner only, closes an existing one to others, and leaves its parent unchanged', async () => {
    const datadir = newDir()
    const dir = join(datadir, 'chain')
    const modes = (): number[] => [datadir, dir].map((path) => statSync(path).mode & 0o777)
    await openLmdb(dir)[Symbol.asyncDispose]()
    expect(modes()).toEqual([0o700, 0o700])
    for (const path of [datadir, dir]) chmodSync(path, 0o755)
    await openLmdb(dir)[Symbol.asyncDispose]()
    expect(modes()).toEqual([0o755, 0o700])
  })

  it('store/lmdbKv: stores only the last of the rows with a key in a table that the write reads', async () => {
    let stored = 0
    await using kv = openLmdbKv(newDir(), specs, () => stored++)
    kv.write((tx) => {
      for (let value = 0; value < 100; value++) {
        tx.get(table, key)
        tx.put(table, key, Uint8Array.of(value))
      }
      tx.put(table, Uint8Array.of(2), key)
      tx.delete(table, Uint8Array.of(2))
    })
    using snapshot = kv.snapshot()
    expect([...snapshot.range(table, {})]).toEqual([{ key, value: Uint8Array.of(99) }])
    expect(stored).toBeLessThan(5)
  })

  it('store/lmdbKv: one directory has one writer (DATADIR_LOCKED)', async () => {
    const dir = newDir()
    await using kv = openLmdb(dir)
    expect(() => openLmdb(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_LOCKED', data: { dir } }))
    expect(kv.write((tx) => tx.get(table, key))).toBeUndefined()
  })

  it('store/lmdbKv: rejects another process while the first lives, and accepts it after the first was killed (DATADIR_LOCKED)', async () => {
    const dir = newDir()
    mkdirSync(dir)
    const script = `
      import { openLmdbKv } from '#store/lmdbKv'
      import { tables } from '#store/tables'
      const kv = openLmdbKv(${JSON.stringify(dir)}, Object.values(tables))
      kv.write((tx) => tx.put(${table}, Uint8Array.of(1), Uint8Array.of(7)))
      process.stdout.write('open')
      setInterval(() => kv, 1000)`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    expect(() => openLmdb(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_LOCKED' }))
    child.kill('SIGKILL')
    await once(child, 'exit')
    await using kv = openLmdb(dir)
    using snapshot = kv.snapshot()
    expect(snapshot.get(table, key)).toEqual(Uint8Array.of(7))
  })

  it('store/lmdbKv: names a directory it cannot write (DATADIR_UNWRITABLE)', () => {
    const file = newDir()
    writeFileSync(file, '')
    expect(() => openLmdb(file)).toThrow(expect.objectContaining({ code: 'DATADIR_UNWRITABLE', severity: 'fatal' }))
    expect(() => openLmdb(join(file, 'below'))).toThrow(expect.objectContaining({ code: 'DATADIR_UNWRITABLE' }))
    expect(() => openLmdb('/proc/basalt')).toThrow(expect.objectContaining({ code: 'DATADIR_UNWRITABLE' }))
  })

  it('store/lmdbKv: names a directory whose file is not a database (DATADIR_DAMAGED)', async () => {
    const dir = newDir()
    mkdirSync(dir)
    writeFileSync(join(dir, 'data.mdb'), new Uint8Array(100_000).fill(7))
    expect(() => openLmdb(dir)).toThrow(expect.objectContaining({ code: 'DATADIR_DAMAGED' }))
    rmSync(join(dir, 'data.mdb'))
    await using kv = openLmdb(dir)
    expect(kv.write((tx) => tx.get(table, key))).toBeUndefined()
  })

  it('store/lmdbKv: opens its own file after any writes: free pages may be missing at its end', async () => {
    const dir = newDir()
    const below = dice(5)
    for (let round = 0; round < 25; round++) {
      await using kv = openLmdb(dir)
      for (let write = 0; write < 4; write++) {
        kv.write((tx) => {
          for (let row = 0; row < 30; row++) {
            const at = Uint8Array.of(below(200))
            if (below(3) === 0) tx.put(table, at, new Uint8Array(below(40_000)))
            else tx.delete(table, at)
          }
        })
      }
    }
  })

  it('store/lmdbKv: a commit on a full disk changes nothing (STORE_FAILED)', async () => {
    const dir = newDir()
    const script = `
      import { openLmdbKv } from '#store/lmdbKv'
      import { tables } from '#store/tables'
      const kv = openLmdbKv(${JSON.stringify(dir)}, Object.values(tables))
      kv.write((tx) => tx.put(${table}, Uint8Array.of(1), Uint8Array.of(7)))
      const many = () => kv.write((tx) => {
        for (let i = 0; i < 60; i++) tx.put(${table}, Uint8Array.of(2, i), new Uint8Array(100_000))
      })
      let said = ''
      for (let round = 0; round < 2; round++) {
        try { many() } catch (error) { said += error.code + ' ' }
      }
      process.stdout.write(said)
      kv.write((tx) => tx.put(${table}, Uint8Array.of(3), Uint8Array.of(3)))
      await kv[Symbol.asyncDispose]()`
    const command = `ulimit -f 2000; exec "$0" --input-type=module-typescript -e "$1"`
    const child = spawn('bash', ['-c', command, process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await once(child.stdout, 'data')
    await once(child, 'exit')
    expect(String(said)).toBe('STORE_FAILED STORE_FAILED ')
    await using kv = openLmdb(dir)
    using snapshot = kv.snapshot()
    expect([...snapshot.range(table, {})].map((row) => [...row.key])).toEqual([[1], [3]])
  })
})

describe('store/lmdb/failure', () => {
  it.each([
    ['No space left on device', 2 ** 40, 'DISK_FULL'],
    ['Input/output error', 2 ** 20, 'DISK_FULL'],
    ['Input/output error', 2 ** 40, 'STORE_FAILED'],
    ['Disk quota exceeded', 2 ** 40, 'DISK_FULL'],
  ])('store/lmdb/failure: %s with %i bytes free is %s', (reason, free, code) => {
    expect(storeFailure('dir', new Error(reason), free)).toMatchObject({ code, data: { dir: 'dir', reason } })
  })

  it('store/lmdb/failure: reports the original failure when the disk no longer responds (STORE_FAILED)', () => {
    const dir = join(base, 'gone')
    expect(storeFailure(dir, new Error('Input/output error'))).toMatchObject({ code: 'STORE_FAILED', data: { dir } })
  })
})

describe('store/freeSpace', () => {
  it('store/freeSpace: rejects less than the minimum only (DISK_LOW)', () => {
    const free = freeBytes(base)
    expect(free).toBeGreaterThan(0)
    expect(requireFreeSpace({ freeBytes: () => 0 }, 0)).toBeUndefined()
    expect(requireFreeSpace({ freeBytes: () => 10 }, 10)).toBeUndefined()
    const data = { freeBytes: 9, minFreeBytes: 10 }
    expect(() => requireFreeSpace({ freeBytes: () => 9 }, 10)).toThrow(
      expect.objectContaining({ code: 'DISK_LOW', severity: 'retry', data }),
    )
  })
})

describe('store/tables', () => {
  it('store/tables: ids and names are unique', () => {
    expect(new Set(specs.map(({ id }) => id)).size).toBe(specs.length)
    expect(new Set(specs.map(({ name }) => name)).size).toBe(specs.length)
  })
})

describe('store/overlayKv', () => {
  it('store/overlayKv: reads are those of one store with the rows of both, and the lower one never changes', async () => {
    const roll = dice(3)
    const random = (): Uint8Array => Uint8Array.of(1 + roll(40), roll(3))
    const lower = createMemoryKv()
    const model = createMemoryKv()
    for (const kv of [lower, model]) {
      const rows = dice(4)
      kv.write((tx) => {
        for (let i = 0; i < 60; i++) tx.put(table, Uint8Array.of(1 + rows(40), rows(3)), Uint8Array.of(i))
        tx.put(tables.code.id, key, key)
      })
    }
    const rowsOf = (kv: Kv, of: number = table): unknown => {
      using reader = kv.snapshot()
      return [...reader.range(of, {})]
    }
    const before = rowsOf(lower)
    await using overlay = openOverlayKv(newDir(), [tables.accounts], lower)
    for (let round = 0; round < 30; round++) {
      const changes = Array.from({ length: 8 }, () => ({ row: random(), value: roll(2) === 0 ? undefined : Uint8Array.of(roll(256)) }))
      for (const kv of [overlay, model]) {
        kv.write((tx) => {
          for (const { row, value } of changes) value ? tx.put(table, row, value) : tx.delete(table, row)
        })
      }
      using found = overlay.snapshot()
      using expected = model.snapshot()
      for (const range of [{}, { from: random() }, { to: random(), reverse: true }, { from: random(), to: random(), limit: 3 }]) {
        expect([...found.range(table, range)]).toEqual([...expected.range(table, range)])
      }
      const one = random()
      expect(found.get(table, one)).toEqual(expected.get(table, one))
    }
    expect(rowsOf(overlay, tables.code.id)).toEqual([{ key, value: key }])
    expect(rowsOf(lower)).toEqual(before)
  })
})
