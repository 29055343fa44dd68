import type { MessagePort } from 'node:worker_threads'
import type { RootPart } from '#state/rootParts'
import type { SharedNodes } from '#trie/trieDiff'
import type { UpdatedState } from '#trie/tries'
import type { Hash } from '#types/ids'

/** A `RootWork` as it crosses threads. */
export type RootMessage = {
  /** of the work, ascending */
  readonly number: number
  /** memory of `RootClaims` */
  readonly claims: SharedArrayBuffer
  readonly parentRoot: Hash
  readonly diff: SharedArrayBuffer
  readonly parts: readonly RootPart[]
  readonly layers: readonly SharedNodes[]
}

/** The result of one part. */
export type RootAnswer = Omit<UpdatedState, 'nodes'> & { readonly number: number; readonly part: number; readonly nodes: SharedArrayBuffer }

/** The execution thread's link to one thread that computes parts: work leaves and answers arrive at the port. */
export type RootLink = { readonly port: MessagePort; readonly queue: SharedArrayBuffer }

const [openAt, postedAt, takenAt, partsAt] = [0, 1, 2, 3]
const ints = 4

/** Shared memory of both ends of a link: whether the thread takes work, how much was posted and taken, and parts computed. At most one work waits. */
export class RootQueue {
  readonly #ints: Int32Array

  constructor(memory: SharedArrayBuffer) {
    this.#ints = new Int32Array(memory)
  }

  static create(): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * ints)
  }

  /** Called by the thread when it begins or ends to take work. */
  set isOpen(isOpen: boolean) {
    Atomics.store(this.#ints, openAt, isOpen ? 1 : 0)
  }

  /** Whether the thread takes work and has taken all that was posted. */
  get isFree(): boolean {
    return Atomics.load(this.#ints, openAt) === 1 && !this.isWaiting
  }

  /** Whether work is posted that the thread has not taken. */
  get isWaiting(): boolean {
    return Atomics.load(this.#ints, postedAt) !== Atomics.load(this.#ints, takenAt)
  }

  posted(): void {
    Atomics.add(this.#ints, postedAt, 1)
  }

  taken(): void {
    Atomics.add(this.#ints, takenAt, 1)
  }

  computed(): void {
    Atomics.add(this.#ints, partsAt, 1)
  }

  /** Parts that the thread has computed since its start; wraps at 2^32. */
  get parts(): number {
    return Atomics.load(this.#ints, partsAt) >>> 0
  }
}
