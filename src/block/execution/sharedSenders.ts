import { fromHex } from '#lib/hex'
import { type Address, addressFromBytes } from '#types/ids'
import { decodeTransaction, depositType } from '#types/transaction'
import { recoverSender } from './senders.ts'

/** What became of a transaction: nobody has begun with it, somebody has, its sender stands beside it. */
const [free, begun, known] = [0, 1, 2]
const addressBytes = 20

/** Who helps recovers so many senders of a flashblock at most: some five milliseconds. */
const maxHelped = 64

/**
 * The senders of a flashblock's transactions, recovered by two threads at the same time: by the one that executes from the front, as it comes to
 * them, by the other from the back, until they meet. Neither waits for the other.
 */
export class SharedSenders {
  readonly #states: Int32Array
  readonly #addresses: Uint8Array

  /** @param shared of `create`, the same in both threads */
  constructor(shared: SharedArrayBuffer) {
    const count = shared.byteLength / (4 + addressBytes)
    this.#states = new Int32Array(shared, 0, count)
    this.#addresses = new Uint8Array(shared, 4 * count)
  }

  static create(count: number): SharedArrayBuffer {
    return new SharedArrayBuffer(count * (4 + addressBytes))
  }

  /** In the thread that executes. @returns the sender, when the other thread has it; else it is left to the caller */
  take(index: number): Address | undefined {
    const state = Atomics.compareExchange(this.#states, index, free, begun)
    if (state !== known) return undefined
    return addressFromBytes(this.#addresses.slice(index * addressBytes, (index + 1) * addressBytes))
  }

  /** In the other thread. @param raws all transactions, EIP-2718 bytes; one that is none or has no sender is left to who executes it */
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
