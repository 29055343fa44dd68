import { Worker } from 'node:worker_threads'
import type { SpecJob, SpecOptions, SpecReport } from './messages.ts'

/** Runs the jobs on a number of workers, one at a time each, and passes each report to `onReport`. Rejects when a worker dies. */
export async function runJobs(
  jobs: readonly SpecJob[],
  options: SpecOptions,
  workers: number,
  onReport: (report: SpecReport) => void,
): Promise<void> {
  const queue = jobs.values()
  await Promise.all(Array.from({ length: Math.min(workers, jobs.length) }, () => serve(queue, options, onReport)))
}

function serve(queue: Iterator<SpecJob>, options: SpecOptions, onReport: (report: SpecReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: options })
    let current: SpecJob | undefined
    const next = (): void => {
      current = queue.next().value
      if (current) worker.postMessage(current)
      else worker.terminate().then(() => resolve(), reject)
    }
    worker.on('message', (report: SpecReport) => {
      onReport(report)
      next()
    })
    worker.once('error', reject)
    worker.once('exit', (code) => {
      if (current) reject(new Error(`a worker ended with ${code} in ${current.file}`))
    })
    next()
  })
}
