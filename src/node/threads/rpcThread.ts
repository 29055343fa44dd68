import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { restoreError } from '#lib/errorTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { Urls } from '../serving/servers.ts'
import type { ForRpcWorker, OfRpcWorker, RpcWorkerSettings } from './rpcWorkerProtocol.ts'

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./rpcWorkerEntry${extname(import.meta.url)}`, import.meta.url)

/** V8 lets a heap with this bound grow to twice its live objects between collections; from 2,048 MB on, to four times. */
const resourceLimits = { maxOldGenerationSizeMb: 2_000 }

/** Longest time to close: the servers give unanswered calls five seconds. */
const closeTimeoutMs = 8_000

/** One thread that answers JSON-RPC. Disposing lets unanswered calls finish for a while. */
export interface RpcThread extends AsyncDisposable {
  readonly link: ThreadLink<OfRpcWorker, object>
  /** Resolves when the thread listens. @throws the fault that kept it from starting */
  readonly opened: Promise<Urls>
  /** Resolves with the cause when the thread has ended; never rejects. */
  readonly gone: Promise<Error>
  /** Ends the thread at once. */
  end(why: Error): void
}

export type RpcThreadDeps = {
  readonly clock: Clock
  /** answers to calls of the thread, except `opened` and `failed` */
  readonly answers: Omit<ForRpcWorker, 'opened' | 'failed'>
  /** Called with errors of messages that no caller waits for. */
  readonly onFailure: (error: unknown) => void
}

const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)))

export function startRpcThread({ clock, answers, onFailure }: RpcThreadDeps, settings: RpcWorkerSettings): RpcThread {
  const worker = new Worker(entry, {
    workerData: settings,
    transferList: [settings.chain.port],
    name: `basalt rpc ${settings.number}`,
    resourceLimits,
  })
  const opened = Promise.withResolvers<Urls>()
  const gone = Promise.withResolvers<Error>()
  opened.promise.catch(() => {})
  let why: Error | undefined
  const here: ForRpcWorker = {
    ...answers,
    opened: (urls) => opened.resolve(urls),
    failed(error): void {
      why ??= restoreError(error)
    },
  }
  const post = (message: unknown): void => worker.postMessage(message)
  const link = new ThreadLink<OfRpcWorker, ForRpcWorker>({ post, here, onFailure })
  worker.on('message', (message) => link.receive(message))
  worker.once('error', (error) => {
    why ??= asError(error)
  })
  worker.once('exit', (code) => {
    const reason = why ?? new Error(`its thread ended with code ${code}`)
    link.end(reason)
    opened.reject(reason)
    gone.resolve(reason)
  })
  return {
    link,
    opened: opened.promise,
    gone: gone.promise,
    end(reason): void {
      why ??= reason
      void worker.terminate()
    },
    async [Symbol.asyncDispose](): Promise<void> {
      link.tell('close')
      using _timer = clock.after(closeTimeoutMs, () => void worker.terminate())
      await gone.promise
    },
  }
}
