// Loaded into each thread of a node by `--import`: every ten seconds, writes the bytes that the thread holds. The environment names the file.
import { appendFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import { threadId, threadName } from 'node:worker_threads'

/** Bytes of one thread: its heap of JavaScript, its buffers outside of the heap, and other allocations of V8. */
export type ThreadMemory = {
  readonly atMs: number
  /** number of the process and of the thread in it */
  readonly id: string
  /** empty: a main thread */
  readonly name: string
  readonly heapBytes: number
  readonly bufferBytes: number
  readonly ownBytes: number
}

export const everyMs = 10_000
const file = process.env['BENCH_THREAD_MEMORY']

function write(path: string): void {
  const { total_physical_size: heapBytes, malloced_memory: ownBytes } = getHeapStatistics()
  const bufferBytes = process.memoryUsage().external
  const memory: ThreadMemory = {
    atMs: Date.now(),
    id: `${process.pid}.${threadId}`,
    name: threadName ?? '',
    heapBytes,
    bufferBytes,
    ownBytes,
  }
  appendFileSync(path, `${JSON.stringify(memory)}\n`)
}

if (file !== undefined) setInterval(write, everyMs, file).unref()
