import { fromHex } from '#lib/hex'
import { type Address, addressFromBytes } from '#types/ids'
import { decodeTransaction, depositType } from '#types/transaction'
import { recoverSender } from './senders.ts'

/** State of a transaction: recovery not begun; begun by one of the threads; sender available. */
const [free, begun, known] = [0, 1, 2]
const addressBytes = 20

/** Maximum number of senders that the helping thread recovers for one flashblock: about five milliseconds of work. */
const maxHelped = 64

/**
 * Senders of a flashblock's transactions, recovered by two threads in parallel. The execution thread works from the front, as it executes them, and
 * the helping thread from the back, until they meet. Neither thread waits for the other (ADR 0026).
 */
export class SharedSenders {
  readonly #states: Int32Array
  readonly #addresses: Uint8Array

  /** @param shared memory from `create`, the same in both threads */
  constructor(shared: SharedArrayBuffer) {
    const count = shared.byteLength / (4 + addressBytes)
    this.#states = new Int32Array(shared, 0, count)
    this.#addresses = new Uint8Array(shared, 4 * count)
  }

  static create(count: number): SharedArrayBuffer {
    return new SharedArrayBuffer(count * (4 + addressBytes))
  }

  /** Called by the execution thread. @returns the sender if the helping thread has recovered it; undefined: the caller recovers it */
  take(index: number): Address | undefined {
    const state = Atomics.compareExchange(this.#states, index, free, begun)
    if (state !== known) return undefined
    return addressFromBytes(this.#addresses.slice(index * addressBytes, (index + 1) * addressBytes))
  }

  /** Called by the helping thread. Transactions without a valid sender are left to the execution thread. @param raws EIP-2718 bytes of all */
  help(raws: readonly Uint8Array[]): void {
    const last = Math.max(0, raws.length - maxHelped)
    for (let index = raws.length - 1; index >= last; index--) {
      if (Atomics.compareExchange(this.#states, index, free, begun) !== free) return
      const sender = senderOf(raws[index] as Uint8Array)
      if (sender === undefined) continue
      this.#addresses.set(fromHex(sender), index * addressBytes)
      Atomics.store(this.#states, index, known)
    }
  }
}

function senderOf(raw: Uint8Array): Address | undefined {
  try {
    const tx = decodeTransaction(raw)
    return tx.type === depositType ? undefined : recoverSender(tx)
  } catch {
    return undefined
  }
}
