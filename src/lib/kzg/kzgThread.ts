import { Worker } from 'node:worker_threads'
import { ThreadLink } from '../threadLink.ts'

/** A commitment and either one proof of the blob or 128 proofs of its cells, 48 bytes each. */
export type ProvedBlob = { readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] }

/** Functions of the thread; undefined: the input is not a valid blob. Byte arrays are copied. */
export type KzgAnswers = {
  hash(blob: Uint8Array): Uint8Array | undefined
  verify(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): boolean
  prove(blob: Uint8Array, proofs: 'blobs' | 'cells'): ProvedBlob | undefined
}

type Link = ThreadLink<KzgAnswers, object>

/** Number of times a request is sent: it is repeated once, in a new thread, when the thread dies. */
const maxTries = 2

/** Verifies and proves blobs in a separate thread, so callers do not block for the setup (two seconds) or a check (3 or 45 ms). */
export class KzgThread implements AsyncDisposable {
  #running: { readonly worker: Worker; readonly link: Link } | undefined
  #unanswered = 0
  #isClosed = false

  /** Starts the thread and its setup now instead of at the first request. An idle thread does not keep the process alive. */
  warmUp(): void {
    if (!this.#isClosed) this.#running ??= this.#begin()
  }

  /**
   * Recomputes the commitment of a blob and returns its versioned hash.
   * @param blob 131,072 bytes
   * @returns 32 bytes; undefined when the input is not a valid blob
   * @throws Error when the thread is closed or died twice during the request
   */
  async hashOf(blob: Uint8Array): Promise<Uint8Array | undefined> {
    return await this.#ask((link) => link.ask('hash', blob))
  }

  /**
   * Verifies with the proof (48 bytes) that the commitment (48 bytes) belongs to the blob.
   * @throws Error as `hashOf` does
   */
  async verifyProof(blob: Uint8Array, commitment: Uint8Array, proof: Uint8Array): Promise<boolean> {
    return await this.#ask((link) => link.ask('verify', blob, commitment, proof))
  }

  /**
   * Computes the commitment and the proofs of a blob.
   * @param blob 131,072 bytes
   * @param proofs `blobs`: one proof of the blob (EIP-4844); `cells`: 128 proofs (EIP-7594)
   * @throws RangeError when the input is not a valid blob; Error as `hashOf` does
   */
  async prove(blob: Uint8Array, proofs: 'blobs' | 'cells'): Promise<ProvedBlob> {
    const proved = await this.#ask((link) => link.ask('prove', blob, proofs))
    if (proved === undefined) throw new RangeError('not a blob')
    return proved
  }

  /** Terminates the thread as a crash would. The next request, or a pending one, starts a new thread. */
  async kill(): Promise<void> {
    await this.#running?.worker.terminate()
  }

  /** Terminates the thread. Pending requests fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#running?.link.end(closed())
    await this.#running?.worker.terminate()
  }

  /** Sends a request, once more in a new thread when the thread dies. An idle thread does not keep the process alive. */
  async #ask<T>(send: (link: Link) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw closed()
      this.#running ??= this.#begin()
      const running = this.#running
      this.#unanswered++
      running.worker.ref()
      try {
        return await send(running.link)
      } catch (error) {
        const hasDied = this.#running !== running && !this.#isClosed
        if (!hasDied || tries === maxTries) throw error
      } finally {
        this.#unanswered--
        if (this.#unanswered === 0) running.worker.unref()
      }
    }
  }

  #begin(): { readonly worker: Worker; readonly link: Link } {
    // The sources run as .ts; a build has .js files in their place.
    const entry = import.meta.url.endsWith('.ts') ? './kzgThreadEntry.ts' : './kzgThreadEntry.js'
    const worker = new Worker(new URL(entry, import.meta.url), { name: 'basalt kzg' })
    const link: Link = new ThreadLink({ post: (message) => worker.postMessage(message), here: {}, onFailure: () => {} })
    worker.unref()
    worker.on('message', (message) => link.receive(message))
    let cause: unknown
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      this.#running = undefined
      link.end(new Error('the KZG thread died', { cause }))
    })
    return { worker, link }
  }
}

const closed = (): Error => new Error('the KZG thread is closed')
