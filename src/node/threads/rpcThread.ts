import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '#lib/clock'
import { restoreError } from '#lib/errorTransfer'
import { ThreadLink } from '#lib/threadLink'
import type { Urls } from '../serving/servers.ts'
import type { ForRpcWorker, OfRpcWorker, RpcWorkerSettings } from './rpcWorkerProtocol.ts'

/** The sources run as they are in development, their JavaScript in the package: the thread's file has the extension of this one. */
const entry = new URL(`./rpcWorkerEntry${extname(import.meta.url)}`, import.meta.url)

/** Its servers give answers under way five seconds; then it is ended. */
const closeTimeoutMs = 8_000

/** One thread that answers JSON-RPC. Disposing of it lets answers under way finish for a while. */
export interface RpcThread extends AsyncDisposable {
  readonly link: ThreadLink<OfRpcWorker, object>
  /** When it listens. @throws the fault that it could not start with */
  readonly opened: Promise<Urls>
  /** When it is gone: why. Never rejects. */
  readonly gone: Promise<Error>
  /** Ends it at once, whatever it is doing. */
  end(why: Error): void
}

export type RpcThreadDeps = {
  readonly clock: Clock
  /** what the thread may ask, but for `opened` and `failed` */
  readonly answers: Omit<ForRpcWorker, 'opened' | 'failed'>
  /** Told of what went wrong when nobody waits for an answer. */
  readonly onFailure: (error: unknown) => void
}

const asError = (value: unknown): Error => (value instanceof Error ? value : new Error(String(value)))

export function startRpcThread({ clock, answers, onFailure }: RpcThreadDeps, settings: RpcWorkerSettings): RpcThread {
  const worker = new Worker(entry, {
    workerData: settings,
    transferList: [settings.chain.port],
    name: `basalt rpc ${settings.number}`,
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
