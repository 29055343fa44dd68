import { Worker } from 'node:worker_threads'

/** A request to the thread. Byte arrays are copied. */
export type KzgQuestion =
  | { readonly id: number; readonly kind: 'hash'; readonly blob: Uint8Array }
  | { readonly id: number; readonly kind: 'proof'; readonly blob: Uint8Array; readonly commitment: Uint8Array; readonly proof: Uint8Array }
  | { readonly id: number; readonly kind: 'prove'; readonly blob: Uint8Array; readonly proofs: 'blobs' | 'cells' }
export type KzgAnswer =
  | { readonly id: number; readonly kind: 'hash'; readonly hash: Uint8Array | undefined }
  | { readonly id: number; readonly kind: 'proof'; readonly isRight: boolean }
  | { readonly id: number; readonly kind: 'prove'; readonly proved: ProvedBlob | undefined }

/** A commitment and either one proof of the blob or 128 proofs of its cells, 48 bytes each. */
export type ProvedBlob = { readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] }

type Pending = { readonly question: KzgQuestion; tries: number; answer(answer: KzgAnswer): void; fail(error: Error): void }

/** Number of times a request is sent: it is repeated once, in a new thread, when the thread dies. */
const maxTries = 2

/** Verifies and proves blobs in a separate thread, so callers do not block for the setup (two seconds) or a check (3 or 45 ms). */
export class KzgThread implements AsyncDisposable {
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  /** Starts the thread and its setup now instead of at the first request. An idle thread does not keep the process alive. */
  warmUp(): void {
    if (!this.#isClosed && this.#worker === undefined) this.#begin()
  }

  /**
   * Recomputes the commitment of a blob and returns its versioned hash.
   * @param blob 131,072 bytes
   * @returns 32 bytes; undefined when the input is not a valid blob
   * @throws Error when the thread is closed or died twice during the request
   */
  async hashOf(blob: Uint8Array): Promise<Uint8Array | undefined> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'hash', blob })
    return answer.kind === 'hash' ? answer.hash : undefined
  }

  /**
   * Verifies with the proof (48 bytes) that the commitment (48 bytes) belongs to the blob.
   * @throws Error as `hashOf` does
   */
  async verifyProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): Promise<boolean> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'proof', blob, commitment, proof })
    return answer.kind === 'proof' && answer.isRight
  }

  /**
   * Computes the commitment and the proofs of a blob.
   * @param blob 131,072 bytes
   * @param proofs `blobs`: one proof of the blob (EIP-4844); `cells`: 128 proofs (EIP-7594)
   * @throws RangeError when the input is not a valid blob; Error as `hashOf` does
   */
  async prove(blob: Uint8Array, proofs: 'blobs' | 'cells'): Promise<ProvedBlob> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'prove', blob, proofs })
    if (answer.kind !== 'prove' || answer.proved === undefined) throw new RangeError('not a blob')
    return answer.proved
  }

  /** Terminates the thread as a crash would. The next request, or a pending one, starts a new thread. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Terminates the thread. Pending requests fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll(new Error('the KZG thread is closed'))
    await worker?.terminate()
  }

  #ask(question: KzgQuestion): Promise<KzgAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<KzgAnswer>()
    if (this.#isClosed) reject(new Error('the KZG thread is closed'))
    else this.#send({ question, tries: 0, answer: resolve, fail: reject })
    return promise
  }

  #send(pending: Pending): void {
    pending.tries++
    this.#pending.set(pending.question.id, pending)
    const worker = this.#worker ?? this.#begin()
    worker.ref()
    worker.postMessage(pending.question)
  }

  #begin(): Worker {
    // The sources run as .ts; a build has .js files in their place.
    const entry = import.meta.url.endsWith('.ts') ? './kzgThreadEntry.ts' : './kzgThreadEntry.js'
    const worker = new Worker(new URL(entry, import.meta.url))
    worker.unref()
    worker.on('message', ({ id, ...rest }: KzgAnswer) => {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (this.#pending.size === 0) worker.unref()
      pending?.answer({ id, ...rest } as KzgAnswer)
    })
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => this.#ended(worker, cause))
    this.#worker = worker
    return worker
  }

  #ended(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const left = [...this.#pending.values()]
    this.#pending.clear()
    for (const pending of left) {
      if (pending.tries < maxTries) this.#send(pending)
      else pending.fail(new Error('the KZG thread died', { cause }))
    }
  }

  #failAll(error: Error): void {
    for (const pending of this.#pending.values()) pending.fail(error)
    this.#pending.clear()
  }
}
