import { Session } from 'node:inspector/promises'
import type { Readable } from 'node:stream'
import { getHeapSnapshot, getHeapStatistics } from 'node:v8'
import type { Worker } from 'node:worker_threads'

/** A running profile. */
export type RunningProfile = {
  /** @returns the text of the file */
  stop(): Promise<string>
}

/** A thread that can be profiled. */
export type Target = {
  cpu(): Promise<RunningProfile>
  /** allocations, sampled */
  heap(): Promise<RunningProfile>
  /** Every object of the heap; the thread does nothing else meanwhile. */
  snapshot(): Promise<Readable>
  heapBytes(): Promise<number>
}

/** Mean bytes between two samples of allocations. */
const samplingIntervalBytes = 32_768

function begun(session: Session, stop: () => Promise<unknown>): RunningProfile {
  return {
    async stop(): Promise<string> {
      try {
        return JSON.stringify(await stop())
      } finally {
        session.disconnect()
      }
    },
  }
}

const mainThread: Target = {
  async cpu(): Promise<RunningProfile> {
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    return begun(session, async () => (await session.post('Profiler.stop')).profile)
  },
  async heap(): Promise<RunningProfile> {
    const session = new Session()
    session.connect()
    await session.post('HeapProfiler.startSampling', { samplingInterval: samplingIntervalBytes })
    return begun(session, async () => (await session.post('HeapProfiler.stopSampling')).profile)
  },
  snapshot: async () => getHeapSnapshot(),
  heapBytes: async () => getHeapStatistics().used_heap_size,
}

const workerTarget = (worker: Worker): Target => ({
  cpu: () => worker.startCpuProfile(),
  heap: () => worker.startHeapProfile(),
  snapshot: () => worker.getHeapSnapshot(),
  heapBytes: async () => (await worker.getHeapStatistics()).used_heap_size,
})

/** The threads of the process that main has started, by name. Disposing ends the watch for new ones. */
export interface Targets extends Disposable {
  names(): readonly string[]
  find(name: string): Target | undefined
}

const nameOf = (worker: Worker): string => (worker.threadName ?? '').replace(/^basalt /, '').replaceAll(' ', '-')

/** Watches which threads main starts. Threads of threads, such as the commit thread, are not among them. */
export function watchTargets(): Targets {
  const workers = new Set<Worker>()
  const onWorker = (worker: Worker): void => {
    workers.add(worker)
    worker.once('exit', () => workers.delete(worker))
  }
  process.on('worker', onWorker)
  /** Threads of one name, such as those that recover senders, are numbered from the second on. */
  function named(): ReadonlyMap<string, Target> {
    const found = new Map<string, Target>([['main', mainThread]])
    for (const worker of workers) {
      const name = nameOf(worker)
      if (name === '') continue
      let unique = name
      for (let number = 2; found.has(unique); number++) unique = `${name}-${number}`
      found.set(unique, workerTarget(worker))
    }
    return found
  }
  return {
    names: () => [...named().keys()],
    find: (name) => named().get(name),
    [Symbol.dispose]: () => void process.off('worker', onWorker),
  }
}
