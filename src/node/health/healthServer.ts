import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { restoreError } from '#lib/errorTransfer'
import type { Log } from '#lib/log'
import { writeLine } from '#lib/logTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { Readiness } from '#rpc/ports'
import type { ForHealthThread, HealthSettings, OfHealthThread } from './healthThread.ts'

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./healthThreadEntry${extname(import.meta.url)}`, import.meta.url)

const closeTimeoutMs = 2_000

/** Server of `/healthz` and `/readyz` in its own thread: it answers while other ports are flooded and the main thread is busy. */
export interface HealthServer extends AsyncDisposable {
  readonly url: string
  /** Replaces the source of the answers. */
  show(readiness: () => Readiness): void
}

export type HealthServerDeps = {
  readonly clock: Clock
  readonly log: Log
  readonly readiness: () => Readiness
}

/**
 * Starts the server.
 * @returns once it listens
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export async function startHealthServer({ clock, log, readiness }: HealthServerDeps, settings: HealthSettings): Promise<HealthServer> {
  const worker = new Worker(entry, { workerData: settings, name: 'basalt health' })
  const opened = Promise.withResolvers<string>()
  const gone = Promise.withResolvers<void>()
  let isClosing = false
  let shown = readiness
  const here: ForHealthThread = {
    opened: opened.resolve,
    failed: (error) => opened.reject(restoreError(error)),
    log: (line) => writeLine(log, line),
    readiness: () => shown(),
  }
  const post = (message: unknown): void => worker.postMessage(message)
  const onFailure = (error: unknown): void => log.error('message of the health thread failed', { error })
  const link = new ThreadLink<OfHealthThread, ForHealthThread>({ post, here, onFailure })
  worker.on('message', (message) => link.receive(message))
  worker.once('error', (error) => {
    opened.reject(error)
    log.error('health thread failed', { error })
  })
  worker.once('exit', (code) => {
    opened.reject(new Error(`the health thread ended with code ${code}`))
    if (!isClosing) log.error('health thread ended, its port no longer answers', { code })
    link.end(new Error('the health thread has ended'))
    gone.resolve()
  })
  const url = await opened.promise.catch((error: unknown) => {
    isClosing = true
    throw error
  })
  return {
    url,
    show(next): void {
      shown = next
    },
    async [Symbol.asyncDispose](): Promise<void> {
      isClosing = true
      link.tell('close')
      using _timer = clock.after(closeTimeoutMs, () => void worker.terminate())
      await gone.promise
    },
  }
}
