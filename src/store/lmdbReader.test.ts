import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it } from 'vitest'
import { openLmdbKv } from './lmdbKv.ts'
import { openLmdbReader } from './lmdbReader.ts'
import { tables } from './tables.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-reader-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))
const specs = Object.values(tables)
const table = tables.accounts.id
const key = Uint8Array.of(1)

afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('store/lmdbReader', () => {
  it('a snapshot shows earlier commits only; the next snapshot shows later commits', async () => {
    const dir = newDir()
    await using kv = openLmdbKv(dir, specs)
    await using source = openLmdbReader(dir, specs)
    using before = source.snapshot()
    expect(before.get(table, key)).toBeUndefined()
    kv.write((tx) => tx.put(table, key, key))
    using after = source.snapshot()
    expect([before.get(table, key), after.get(table, key)]).toEqual([undefined, key])
    expect([...after.keys(table, {})]).toEqual([key])
  })

  it('another thread reads while this one writes; closing the reader leaves the writer open', async () => {
    const dir = newDir()
    await using kv = openLmdbKv(dir, specs)
    const worker = new Worker(join(import.meta.dirname, '../../test/harness/process/storeReader.ts'), { workerData: { dir, table } })
    const ask = async (): Promise<unknown> => {
      worker.postMessage(key)
      return (await once(worker, 'message'))[0]
    }
    expect(await ask()).toBeUndefined()
    for (let round = 0; round < 20; round++) {
      kv.write((tx) => tx.put(table, key, Uint8Array.of(round)))
      expect(await ask()).toEqual(Uint8Array.of(round))
    }
    worker.postMessage('close')
    await once(worker, 'exit')
    kv.write((tx) => tx.put(table, key, Uint8Array.of(99)))
    using snapshot = kv.snapshot()
    expect(snapshot.get(table, key)).toEqual(Uint8Array.of(99))
  })

  it('works with the writer in a worker thread and the reader in the main thread', async () => {
    const dir = newDir()
    const script = `
      import { parentPort } from 'node:worker_threads'
      import { openLmdbKv } from '#store/lmdbKv'
      import { tables } from '#store/tables'
      const kv = openLmdbKv(${JSON.stringify(dir)}, Object.values(tables))
      parentPort.on('message', async (value) => {
        if (value === 'close') { await kv[Symbol.asyncDispose](); parentPort.close(); return }
        kv.write((tx) => tx.put(${table}, Uint8Array.of(1), Uint8Array.of(value)))
        parentPort.postMessage('done')
      })
      parentPort.postMessage('open')`
    const worker = new Worker(script, { eval: true, execArgv: ['--input-type=module-typescript'] })
    await once(worker, 'message')
    const source = openLmdbReader(dir, specs)
    for (let round = 0; round < 20; round++) {
      worker.postMessage(round)
      await once(worker, 'message')
      using snapshot = source.snapshot()
      expect(snapshot.get(table, key)).toEqual(Uint8Array.of(round))
    }
    await source[Symbol.asyncDispose]()
    worker.postMessage('close')
    await once(worker, 'exit')
  })

  it('names a directory without tables (DATADIR_DAMAGED); a closed source returns no snapshots', async () => {
    expect(() => openLmdbReader(newDir(), specs)).toThrow(expect.objectContaining({ code: 'DATADIR_DAMAGED' }))
    const dir = newDir()
    await using _kv = openLmdbKv(dir, specs)
    const source = openLmdbReader(dir, specs)
    await source[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
    expect(() => source.snapshot()).toThrow('closed')
  })
})
