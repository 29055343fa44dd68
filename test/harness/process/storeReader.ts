// A thread that reads a data directory which its parent writes. It answers each message, a key, with the value in a new snapshot.
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
