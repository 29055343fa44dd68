import { createHash, type Hash as Digest } from 'node:crypto'
import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { storeFailure } from '#store/lmdb/failure'
import { sha256 } from '../format/manifest.ts'

/** Takes the bytes of a download in order. */
export interface Sink {
  /** bytes so far */
  readonly filled: number
  add(bytes: Uint8Array): void
  /** Drops all bytes. */
  restart(): void
  /** Returns the SHA-256 of the bytes so far in hex. */
  digest(): string
}

/** Bytes in memory. */
export class MemorySink implements Sink {
  readonly bytes: Uint8Array
  filled = 0

  /** @param size bytes, at most */
  constructor(size: number) {
    this.bytes = Buffer.alloc(size)
  }

  add(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.filled)
    this.filled += bytes.length
  }

  restart(): void {
    this.filled = 0
  }

  digest(): string {
    return sha256(this.bytes.subarray(0, this.filled))
  }
}

/**
 * Bytes in a file under a temporary name, which `finish` replaces. Disposing before that removes the file.
 * Writing throws the Fault DISK_FULL (retry) or STORE_FAILED (fatal).
 */
export class FileSink implements Sink, Disposable {
  readonly #path: string
  readonly #temporary: string
  #file: number | undefined
  #hash: Digest = createHash('sha256')
  filled = 0

  constructor(path: string, temporary: string) {
    this.#path = path
    this.#temporary = temporary
    this.#guarded(() => {
      this.#file = openSync(temporary, 'w', 0o600)
    })
  }

  add(bytes: Uint8Array): void {
    this.#guarded((file) => {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, this.filled + done)
    })
    this.#hash.update(bytes)
    this.filled += bytes.length
  }

  restart(): void {
    this.#guarded((file) => ftruncateSync(file, 0))
    this.#hash = createHash('sha256')
    this.filled = 0
  }

  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Flushes the file to the disk and gives it its name. */
  finish(): void {
    this.#guarded((file) => {
      fsyncSync(file)
      closeSync(file)
      this.#file = undefined
      renameSync(this.#temporary, this.#path)
    })
  }

  [Symbol.dispose](): void {
    if (this.#file === undefined) return
    closeSync(this.#file)
    this.#file = undefined
    rmSync(this.#temporary, { force: true })
  }

  #guarded(run: (file: number) => void): void {
    try {
      run(this.#file ?? -1)
    } catch (error) {
      throw storeFailure(dirname(this.#path), error)
    }
  }
}
