// A thread of the program, with an end that a test can bring about: by a message, between two of its own instructions.
// `terminate` from outside may hit it inside a call of a native library, which aborts the whole process.
import { once } from 'node:events'
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads'

const endWord = 'end'

if (parentPort) {
  parentPort.on('message', (message) => message === endWord && process.exit(1)).unref()
  await import(process.argv.at(-1) ?? '')
}

const threads: Worker[] = []

/** In the place of Node's Worker while the module that starts the thread is mocked. */
export class MortalWorker extends Worker {
  constructor(entry: URL, options: WorkerOptions) {
    super(new URL(import.meta.url), { ...options, argv: [entry.href] })
    threads.push(this)
  }
}

/** Ends the thread that was started last. @returns when it is gone */
export async function endNewestThread(): Promise<void> {
  const thread = threads.at(-1)
  if (thread === undefined) throw new Error('no thread has been started')
  const gone = once(thread, 'exit')
  thread.postMessage(endWord)
  await gone
}
