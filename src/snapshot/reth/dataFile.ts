import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { errorMessage, type Fault } from '#lib/fault'
import { rethFault } from '../faults.ts'

/** A file of the snapshot, open for reads at any position. Throws Fault SNAPSHOT_FILE_MISSING when it cannot be opened or read. */
export class DataFile implements Disposable {
  readonly name: string
  readonly sizeBytes: number
  readonly #path: string
  readonly #fd: number

  constructor(path: string) {
    this.name = basename(path)
    this.#path = path
    try {
      this.#fd = openSync(path, 'r')
      this.sizeBytes = fstatSync(this.#fd).size
    } catch (error) {
      throw this.#missing(error)
    }
  }

  /** Returns `length` bytes from offset `from` in a new array. Throws Fault SNAPSHOT_FILE_DAMAGED when the file ends before that. */
  read(from: number, length: number): Uint8Array {
    if (from + length > this.sizeBytes) throw this.damaged(`byte ${from}`, `${length} bytes expected, the file has ${this.sizeBytes}`)
    const bytes = new Uint8Array(length)
    let at = 0
    try {
      while (at < length) {
        const count = readSync(this.#fd, bytes, at, length - at, from + at)
        if (count === 0) throw this.damaged(`byte ${from + at}`, 'the file became shorter')
        at += count
      }
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === undefined || error instanceof RangeError ? error : this.#missing(error)
    }
    return bytes
  }

  damaged(place: string, reason: string): Fault {
    return rethFault('SNAPSHOT_FILE_DAMAGED', { file: this.name, place, reason })
  }

  #missing(error: unknown): Fault {
    return rethFault('SNAPSHOT_FILE_MISSING', { file: this.#path, reason: errorMessage(error) }, error)
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}
