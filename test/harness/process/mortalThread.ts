// A thread of the program, with an end that a test can bring about: by a message, between two of its own instructions.
// `terminate` from outside may hit it inside a call of a native library, which aborts the whole process. So may its own end while a library
// works for it in a thread of the library's: execution, whose lmdb flushes behind, dies in memory only, or with its process (mortalProcess.ts).
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

/** Takes the thread of the execution that is being started to die, which works in memory then. */
const mortalStart = new AsyncLocalStorage<(thread: Worker) => void>()
const memoryExecution = new URL('../chain/memoryExecution.ts', import.meta.url)

/** In the place of Node's Worker while the module that starts the thread is mocked. */
export class MortalWorker extends Worker {
  constructor(entry: URL, options: WorkerOptions) {
    const take = entry.pathname.endsWith('/executionThread/threadEntry.ts') ? mortalStart.getStore() : undefined
    super(new URL(import.meta.url), { ...options, argv: [(take ? memoryExecution : entry).href] })
    threads.push(this)
    take?.(this)
  }
}

async function end(thread: Worker | undefined): Promise<void> {
  if (thread === undefined) throw new Error('no thread has been started')
  const gone = once(thread, 'exit')
  thread.postMessage(endWord)
  await gone
}

/** Ends the thread that was started last, which is not one of execution. @returns when it is gone */
export const endNewestThread = (): Promise<void> => end(threads.at(-1))

/** From now on the thread that was started last does nothing any more, until it is ended. */
export const holdNewestThread = (): void => threads.at(-1)?.postMessage(holdWord)

/**
 * Starts what has execution in a thread of its own: that thread works in memory and can be ended. Its chain begins anew; the starter reads the
 * directory, which has the chain's beginning from a start before.
 */
export async function startMortal<T>(start: () => Promise<T>): Promise<{ readonly started: T; endExecution(): Promise<void> }> {
  let execution: Worker | undefined
  const started = await mortalStart.run((thread) => {
    execution = thread
  }, start)
  return { started, endExecution: () => end(execution) }
}
