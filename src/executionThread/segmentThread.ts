import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { executionFault } from '#block/faults'
import type { SegmentBuilder } from '#blockchain/segments/buildSegments'
import type { BuiltSegments, SegmentRequest } from '#blockchain/segments/segmentCut'
import { restoreError, type TransferredError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'

/** `ended`: a non-zero u32 ends the build. `dir`: of the tables. */
export type SegmentThreadSettings = { readonly dir: string; readonly request: SegmentRequest; readonly ended: SharedArrayBuffer }

export type FromSegmentThread = { readonly built: BuiltSegments | undefined } | { readonly error: TransferredError }

/** Entry file of the thread, with the extension of this file: TypeScript in development, JavaScript in the package. */
const entry = new URL(`./segmentThreadEntry${extname(import.meta.url)}`, import.meta.url)

/** Builds segment files in a thread of its own, which exists only during a build. A flag ends it; it is never terminated, because it reads lmdb's tables. */
export class SegmentThread implements SegmentBuilder {
  readonly #dir: string
  readonly #ended = new SharedArrayBuffer(4)
  #gone: Promise<unknown> = Promise.resolve()

  /** @param dir of tables that this process has open as their writer */
  constructor(dir: string) {
    this.#dir = dir
  }

  build(request: SegmentRequest): Promise<BuiltSegments | undefined> {
    const workerData: SegmentThreadSettings = { dir: this.#dir, request, ended: this.#ended }
    const worker = new Worker(entry, { workerData, name: 'basalt segments' })
    this.#gone = new Promise((resolve) => worker.once('exit', resolve))
    return new Promise((resolve, reject) => {
      const stopped = (reason: string, cause?: unknown): void => reject(executionFault('EXECUTION_STOPPED', { reason }, cause))
      worker.once('message', (message: FromSegmentThread) => {
        if ('error' in message) reject(restoreError(message.error))
        else resolve(message.built)
      })
      worker.once('error', (error) => stopped(errorMessage(error), error))
      worker.once('exit', (code) => stopped(`its segment thread ended with code ${code}`))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    Atomics.store(new Int32Array(this.#ended), 0, 1)
    await this.#gone
  }
}
