import { extname } from 'node:path'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { executionFault } from '#block/faults'
import { restoreError, type TransferredError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import type { Log } from '#lib/log'
import { type LogLine, writeLine } from '#lib/logTransfer'
import type { ChainDistance } from '#types/chainDistance'
import type { RecorderStep } from './recorder.ts'

/** Young generation of the thread's heap, as of the commit thread. */
const resourceLimits = { maxYoungGenerationSizeMb: 24 }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./proofsThreadEntry${extname(import.meta.url)}`, import.meta.url)

export type ProofsOptions = {
  /** directory of the tables */
  readonly dir: string
  /** states to keep */
  readonly window: ChainDistance | 'all'
  /** pause between two steps that are due, with which a test slows recording; absent: none */
  readonly stepPauseMs?: number
}

export type ProofsThreadSettings = ProofsOptions & { readonly chainDir: string; readonly port: MessagePort }

export type FromProofsThread =
  | { readonly ready: true }
  | { readonly step: RecorderStep }
  | { readonly failure: TransferredError }
  | { readonly retried: TransferredError | undefined }
  | { readonly log: LogLine }

export type ProofsThreadDeps = {
  readonly log: Log
  /** Called after each step that did something. */
  readonly onStep: (step: RecorderStep) => void
}

/** A recorder in a thread of its own. Its end never ends the chain. Disposing waits until the tables are closed. */
export interface ProofsThread extends AsyncDisposable {
  /** Returns why recording has ended; undefined while it continues. */
  failure(): Error | undefined
  /** Returns the error after which recording waits and is retried: a full disk. */
  retried(): Error | undefined
  /** Resolves once a block is recorded. Rejects with the error that ended recording. */
  reached(number: number): Promise<void>
}

/**
 * Starts to record proofs.
 * @param chainDir directory of the chain's tables, which this process has open
 * @returns once the tables are open
 * @throws Fault DATADIR_LOCKED, DATADIR_UNWRITABLE, PROOFS_DAMAGED, PROOFS_OLD, PROOFS_OTHER_CHAIN, PROOFS_AHEAD, PROOFS_BELOW, SCHEMA_NEWER
 * (fatal)
 */
export async function startProofsThread(
  { log, onStep }: ProofsThreadDeps,
  chainDir: string,
  options: ProofsOptions,
): Promise<ProofsThread> {
  const { port1, port2 } = new MessageChannel()
  const workerData: ProofsThreadSettings = { ...options, chainDir, port: port2 }
  const worker = new Worker(entry, { workerData, transferList: [port2], name: 'basalt proofs', resourceLimits })
  const ready = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  let [failure, retried]: [Error | undefined, Error | undefined] = [undefined, undefined]
  let last = -1
  let onProgress = (): void => {}
  function fail(error: Error): void {
    failure ??= error
    ready.reject(error)
    onProgress()
  }
  port1.on('message', (message: FromProofsThread) => {
    if ('log' in message) writeLine(log, message.log)
    else if ('failure' in message) fail(restoreError(message.failure))
    else if ('retried' in message) retried = message.retried && restoreError(message.retried)
    else if ('step' in message) {
      onStep(message.step)
      last = message.step.last ?? last
      onProgress()
    } else ready.resolve()
  })
  worker.once('error', (error) => fail(executionFault('EXECUTION_STOPPED', { reason: errorMessage(error) }, error)))
  worker.once('exit', (code) => {
    fail(executionFault('EXECUTION_STOPPED', { reason: `the proofs thread ended with code ${code}` }))
    port1.close()
    gone.resolve()
  })
  const thread: ProofsThread = {
    failure: () => failure,
    retried: () => retried,
    reached(number): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      onProgress = (): void => {
        if (failure) reject(failure)
        else if (last >= number) resolve()
      }
      onProgress()
      return promise
    },
    async [Symbol.asyncDispose](): Promise<void> {
      port1.postMessage('close')
      await gone.promise
    },
  }
  try {
    await ready.promise
  } catch (error) {
    await thread[Symbol.asyncDispose]()
    throw error
  }
  return thread
}
