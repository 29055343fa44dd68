import { extname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { restoreError, type TransferredError } from '#lib/errorTransfer'
import { errorMessage } from '#lib/fault'
import { storeFault } from '../faults.ts'
import type { TableSpec } from '../tables.ts'
import { dueBytes } from './bulkWriter.ts'

/** `rows`: packed, the first `bytes` of a shared buffer, to be written in one transaction. */
export type ToBulkThread =
  | { readonly kind: 'write'; readonly rows: SharedArrayBuffer; readonly bytes: number }
  | { readonly kind: 'get'; readonly table: number; readonly key: Uint8Array }
  | { readonly kind: 'close'; readonly removes: boolean }
export type FromBulkThread = { readonly error: TransferredError } | { readonly value: Uint8Array | undefined }

export type BulkThreadSettings = {
  readonly dir: string
  readonly specs: readonly TableSpec[]
  readonly ascending: readonly number[]
  readonly port: MessagePort
  /** number of answers */
  readonly answers: Int32Array
}

type Waiting = Extract<ToBulkThread, { kind: 'write' }>

const room = dueBytes + 2 ** 20
/** Time without an answer after which the thread counts as stuck. */
const stuckMs = 300_000
const entry = new URL(`./bulkThreadEntry${extname(import.meta.url)}`, import.meta.url)
const resourceLimits = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 }

/**
 * Writes many rows in large transactions in a thread of its own, while the caller collects the rows of the next one. The only user of its directory. Memory:
 * two buffers of rows here, one in the thread.
 */
export class BulkThread implements AsyncDisposable {
  readonly #dir: string
  readonly #port: MessagePort
  readonly #answers = new Int32Array(new SharedArrayBuffer(4))
  readonly #ended: Promise<void>
  /** rows of the next transaction */
  #buffer = new SharedArrayBuffer(room)
  #view = new Uint8Array(this.#buffer)
  #filled = 0
  #spare: SharedArrayBuffer | undefined
  #seen = 0
  /** transaction whose outcome is not taken yet, or that failed and is written again */
  #waiting: Waiting | undefined
  #isSent = false
  #isClosed = false
  /** error that ended the thread */
  #failure: Error | undefined

  /** Starts the thread, and waits until the tables are open. @see openBulkWriter for parameters and faults */
  constructor(dir: string, specs: readonly TableSpec[], ascending: readonly number[] = []) {
    this.#dir = dir
    const { port1, port2 } = new MessageChannel()
    const workerData: BulkThreadSettings = { dir, specs, ascending, port: port2, answers: this.#answers }
    const worker = new Worker(entry, { workerData, transferList: [port2], name: 'basalt bulk rows', resourceLimits })
    this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()))
    worker.once('error', (error) => this.#fail(error))
    this.#port = port1
    this.#take()
  }

  /** Whether the rows that wait should be written before more are added. */
  get isDue(): boolean {
    return this.#filled >= dueBytes
  }

  /** Adds rows in the format of `packedRows.ts`. They are copied. */
  putPacked(rows: Uint8Array): void {
    const end = this.#filled + rows.length
    if (end > this.#buffer.byteLength) this.#grow(end)
    this.#view.set(rows, this.#filled)
    this.#filled = end
  }

  /**
   * Begins to write the rows that wait in one transaction, after the transaction before it.
   * @throws Fault DISK_FULL (retry), STORE_FAILED (fatal) of the transaction before, which a later call writes again
   */
  flush(): void {
    this.settle()
    this.#waiting = { kind: 'write', rows: this.#buffer, bytes: this.#filled }
    this.#send()
    const next = this.#spare && this.#spare.byteLength <= 2 * room ? this.#spare : new SharedArrayBuffer(room)
    this.#spare = undefined
    this.#buffer = next
    this.#view = new Uint8Array(next)
    this.#filled = 0
  }

  /** Waits until the rows of the last `flush` are written. @throws as `flush` */
  settle(): void {
    if (this.#waiting === undefined) return
    if (!this.#isSent) this.#send()
    this.#isSent = false
    this.#take()
    this.#spare = this.#waiting.rows
    this.#waiting = undefined
  }

  /** Reads a row that is written. */
  get(table: number, key: Uint8Array): Uint8Array | undefined {
    this.settle()
    this.#port.postMessage({ kind: 'get', table, key } satisfies ToBulkThread)
    return this.#take()
  }

  /** Closes the tables and removes them with all their rows. @throws Fault STORE_FAILED (fatal); the error of a removal */
  async remove(): Promise<void> {
    await this.#close(true)
  }

  /** Closes the tables. Rows that `flush` has not taken are dropped. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close(false)
  }

  async #close(removes: boolean): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#port.postMessage({ kind: 'close', removes } satisfies ToBulkThread)
    await this.#ended
    // the outcome of a transaction that no call has taken
    if (this.#isSent) this.#received()
    const closed = this.#received()
    this.#port.close()
    if (closed && 'error' in closed) throw restoreError(closed.error)
    if (removes && this.#failure) throw this.#failure
  }

  #received(): FromBulkThread | undefined {
    return (receiveMessageOnPort(this.#port) as { readonly message: FromBulkThread } | undefined)?.message
  }

  #fail(error: unknown): void {
    this.#failure = storeFault('STORE_FAILED', { dir: this.#dir, reason: errorMessage(error) }, error)
  }

  #send(): void {
    this.#isSent = true
    this.#port.postMessage(this.#waiting)
  }

  /** Waits for the answer to a message. */
  #take(): Uint8Array | undefined {
    for (;;) {
      if (this.#failure) throw this.#failure
      const message = this.#received()
      if (message === undefined) {
        const isStuck = Atomics.wait(this.#answers, 0, this.#seen, stuckMs) === 'timed-out'
        if (isStuck) throw storeFault('STORE_FAILED', { dir: this.#dir, reason: `no transaction ended for ${stuckMs / 1_000} s` })
        continue
      }
      this.#seen++
      if ('error' in message) throw restoreError(message.error)
      return message.value
    }
  }

  #grow(bytes: number): void {
    const larger = new SharedArrayBuffer(Math.max(bytes, this.#buffer.byteLength * 2))
    const view = new Uint8Array(larger)
    view.set(this.#view.subarray(0, this.#filled))
    this.#buffer = larger
    this.#view = view
  }
}
