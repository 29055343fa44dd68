import type { ReadKeys } from '#block/execution/readKeys'

/** Keys that the ring holds: a power of two, and more than most blocks read. */
const size = 4096
const keyBytes = 32
const entryBytes = 2 * keyBytes
const [followedAt, notedAt, takenAt] = [0, 1, 2]
const headerBytes = 16

/** Keys as of `ReadKeys.note`. */
export type NotedKeys = { readonly addressKey: Uint8Array; readonly slotKey: Uint8Array | undefined }

/**
 * Keys that execution reads, in shared memory: the execution thread notes them, and each is taken once by one of the sender threads. No thread waits for
 * another. Keys that are overwritten before they are taken are lost, and keys that are overwritten meanwhile are wrong: they are hints.
 */
export class KeyRing implements ReadKeys {
  readonly memory: SharedArrayBuffer
  readonly #header: Int32Array
  readonly #keys: Uint8Array
  /** 1: the entry has the key of a slot. */
  readonly #isSlot: Uint8Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#header = new Int32Array(memory, 0, headerBytes / 4)
    this.#keys = new Uint8Array(memory, headerBytes, size * entryBytes)
    this.#isSlot = new Uint8Array(memory, headerBytes + size * entryBytes, size)
  }

  static create(): KeyRing {
    return new KeyRing(new SharedArrayBuffer(headerBytes + size * (entryBytes + 1)))
  }

  get isFollowed(): boolean {
    return Atomics.load(this.#header, followedAt) === 1
  }

  set isFollowed(isFollowed: boolean) {
    Atomics.store(this.#header, followedAt, isFollowed ? 1 : 0)
  }

  note(addressKey: Uint8Array, slotKey?: Uint8Array): void {
    const noted = Atomics.load(this.#header, notedAt)
    const index = noted & (size - 1)
    this.#keys.set(addressKey, index * entryBytes)
    if (slotKey) this.#keys.set(slotKey, index * entryBytes + keyBytes)
    this.#isSlot[index] = slotKey ? 1 : 0
    Atomics.store(this.#header, notedAt, noted + 1)
  }

  /** Takes the oldest keys that are there and not taken. @returns undefined when there are none */
  take(): NotedKeys | undefined {
    for (;;) {
      const taken = Atomics.load(this.#header, takenAt)
      const noted = Atomics.load(this.#header, notedAt)
      const waiting = (noted - taken) | 0 // both wrap
      if (waiting <= 0) return undefined
      const oldest = waiting > size ? noted - size : taken
      if (Atomics.compareExchange(this.#header, takenAt, taken, oldest + 1) !== taken) continue
      const index = oldest & (size - 1)
      const entry = this.#keys.slice(index * entryBytes, (index + 1) * entryBytes)
      return { addressKey: entry.subarray(0, keyBytes), slotKey: this.#isSlot[index] === 1 ? entry.subarray(keyBytes) : undefined }
    }
  }

  /** Waits until keys are noted that are not taken. @param ms longest wait */
  wait(ms: number): void {
    Atomics.wait(this.#header, notedAt, Atomics.load(this.#header, takenAt), ms)
  }

  /** Drops the keys that are not taken. */
  clear(): void {
    Atomics.store(this.#header, takenAt, Atomics.load(this.#header, notedAt))
  }
}
