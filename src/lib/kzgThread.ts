import { Worker } from 'node:worker_threads'

/** What the thread is asked; bytes are copied. */
export type KzgQuestion =
  | { readonly id: number; readonly kind: 'hash'; readonly blob: Uint8Array }
  | { readonly id: number; readonly kind: 'proof'; readonly blob: Uint8Array; readonly commitment: Uint8Array; readonly proof: Uint8Array }
  | { readonly id: number; readonly kind: 'prove'; readonly blob: Uint8Array; readonly proofs: 'blobs' | 'cells' }
export type KzgAnswer =
  | { readonly id: number; readonly kind: 'hash'; readonly hash: Uint8Array | undefined }
  | { readonly id: number; readonly kind: 'proof'; readonly isRight: boolean }
  | { readonly id: number; readonly kind: 'prove'; readonly proved: ProvedBlob | undefined }

/** 48 bytes each: a commitment, and one proof of the blob or 128 of its cells. */
export type ProvedBlob = { readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] }

type Pending = { readonly question: KzgQuestion; tries: number; answer(answer: KzgAnswer): void; fail(error: Error): void }

/** Questions that were under way when a thread died are asked once more, in the next. */
const maxTries = 2

/** Checks and proofs of blobs in a thread of their own: its set-up takes two seconds, a check 3 or 45 ms, and nobody else waits for that. */
export class KzgThread implements AsyncDisposable {
  readonly #pending = new Map<number, Pending>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  /** Starts the thread, which sets itself up; otherwise the first question does. It does not keep the process alive while nothing is asked. */
  warmUp(): void {
    if (!this.#isClosed && this.#worker === undefined) this.#begin()
  }

  /**
   * @param blob 131,072 bytes
   * @returns its versioned hash (32 bytes), by recomputing its commitment; undefined when it is no blob
   * @throws Error when the thread is closed or dies again and again
   */
  async hashOf(blob: Uint8Array): Promise<Uint8Array | undefined> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'hash', blob })
    return answer.kind === 'hash' ? answer.hash : undefined
  }

  /**
   * Whether the commitment (48 bytes) is the blob's, by its proof (48 bytes).
   * @throws Error as `hashOf` does
   */
  async verifyProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): Promise<boolean> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'proof', blob, commitment, proof })
    return answer.kind === 'proof' && answer.isRight
  }

  /**
   * @param blob 131,072 bytes
   * @param proofs `blobs`: one proof of the whole (EIP-4844); `cells`: 128 proofs (EIP-7594)
   * @throws RangeError when it is no blob; Error as `hashOf` does
   */
  async prove(blob: Uint8Array, proofs: 'blobs' | 'cells'): Promise<ProvedBlob> {
    const answer = await this.#ask({ id: ++this.#lastId, kind: 'prove', blob, proofs })
    if (answer.kind !== 'prove' || answer.proved === undefined) throw new RangeError('not a blob')
    return answer.proved
  }

  /** Ends the thread as a crash does: the next question, or one that is under way, begins another. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Ends the thread; what is under way fails. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    this.#worker = undefined
    this.#failAll(new Error('the thread is closed'))
    await worker?.terminate()
  }

  #ask(question: KzgQuestion): Promise<KzgAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<KzgAnswer>()
    if (this.#isClosed) reject(new Error('the thread is closed'))
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
    // sources run as they are; a build has JavaScript in their place
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
      else pending.fail(new Error('the thread died', { cause }))
    }
  }

  #failAll(error: Error): void {
    for (const pending of this.#pending.values()) pending.fail(error)
    this.#pending.clear()
  }
}
