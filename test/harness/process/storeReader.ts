// A thread that reads a data directory which its parent writes: answers each message, a key, with the value of a fresh snapshot.
import { parentPort, workerData } from 'node:worker_threads'
import { openLmdbReader } from '#store/lmdbReader'
import { tables } from '#store/tables'

const { dir, table } = workerData as { dir: string; table: number }
const source = openLmdbReader(dir, Object.values(tables))
parentPort?.on('message', async (key: Uint8Array | 'close') => {
  if (key === 'close') {
    await source[Symbol.asyncDispose]()
    parentPort?.close()
    return
  }
  using snapshot = source.snapshot()
  parentPort?.postMessage(snapshot.get(table, key))
})
