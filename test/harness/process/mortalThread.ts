// A thread of the node that a test can end: by a message, between two of its own instructions.
// `terminate` can stop a thread inside a call of a native library, which aborts the whole process. So can the thread's own exit while a library works
// for it in a library thread. Execution, whose LMDB flushes in the background, is therefore ended in memory only, or with its process (mortalProcess.ts).
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads'

const endWord = 'end'
const holdWord = 'hold'

if (parentPort) {
  const onWord = (word: unknown): void => {
    if (word === endWord) process.exit(1)
    if (word === holdWord) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  parentPort.on('message', onWord).unref()
  await import(process.argv.at(-1) ?? '')
}

const threads: Worker[] = []

/** Receives the execution thread that is being started; it then runs on stores in memory. */
const mortalStart = new AsyncLocalStorage<(thread: Worker) => void>()
const memoryExecution = new URL('../chain/memoryExecution.ts', import.meta.url)

/** Replaces Node's Worker while the module that starts the thread is mocked. */
export class MortalWorker extends Worker {
  constructor(entry: URL, options: WorkerOptions) {
    const take = entry.pathname.endsWith('/executionThread/threadEntry.ts') ? mortalStart.getStore() : undefined
    super(new URL(import.meta.url), { ...options, argv: [(take ? memoryExecution : entry).href] })
    threads.push(this)
    take?.(this)
  }
}

async function end(thread: Worker | undefined): Promise<void> {
  if (thread === undefined) throw new Error('no thread was started')
  const gone = once(thread, 'exit')
  thread.postMessage(endWord)
  await gone
}

/** Ends the thread that was started last, which must not be an execution thread. @returns when it has exited */
export const endNewestThread = (): Promise<void> => end(threads.at(-1))

/** Whether the thread that was started last has ended: it has no id any more. */
export const isNewestThreadEnded = (): boolean => threads.at(-1)?.threadId === -1

/** Blocks the thread that was started last until it is ended. */
export const holdNewestThread = (): void => threads.at(-1)?.postMessage(holdWord)

/**
 * Starts a part of the node with an execution thread that runs in memory and can be ended. Its chain begins with genesis; the starter reads the
 * directory, which has the beginning of the chain from an earlier start.
 */
export async function startMortal<T>(start: () => Promise<T>): Promise<{ readonly started: T; endExecution(): Promise<void> }> {
  let execution: Worker | undefined
  const started = await mortalStart.run((thread) => {
    execution = thread
  }, start)
  return { started, endExecution: () => end(execution) }
}
