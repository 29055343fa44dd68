import type { PackedBytes } from '#lib/packedBytes'

/** Transactions of a block or flashblock and the memory of their `SenderTable`. */
export type SenderWork = {
  readonly transactions: PackedBytes<SharedArrayBuffer>
  readonly table: SharedArrayBuffer
}

const [bytesAt, stoppedAt] = [0, 1]
const ints = 2

/** Returns the bytes that stay in memory until the work is done. */
export const workBytes = ({ transactions: { bytes, ends }, table }: SenderWork): number =>
  bytes.byteLength + ends.byteLength + table.byteLength

/** Shared memory of a sender thread and its owner: bytes of the work that is posted and not done, and whether the thread must end. */
export class SenderQueue {
  readonly #ints: Int32Array

  constructor(memory: SharedArrayBuffer = SenderQueue.create()) {
    this.#ints = new Int32Array(memory)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * ints)
  }

  get bytes(): number {
    return Atomics.load(this.#ints, bytesAt)
  }

  posted(bytes: number): void {
    Atomics.add(this.#ints, bytesAt, bytes)
  }

  done(bytes: number): void {
    Atomics.sub(this.#ints, bytesAt, bytes)
  }

  stop(): void {
    Atomics.store(this.#ints, stoppedAt, 1)
  }

  get isStopped(): boolean {
    return Atomics.load(this.#ints, stoppedAt) === 1
  }
}
