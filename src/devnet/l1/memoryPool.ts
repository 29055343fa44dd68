import { feeCapOf, tipCapOf, tipPerGas } from '#block/validation/transactionValidity'
import type { Address, Hash } from '#types/ids'
import type { BlobSidecar } from '#types/signing'
import type { SignedTransaction } from '#types/transaction'

export type Waiting = {
  readonly hash: Hash
  /** EIP-2718 bytes, as in a block */
  readonly raw: Uint8Array
  readonly tx: SignedTransaction
  readonly sender: Address
  readonly sidecar?: BlobSidecar
}

/** Minimum price increase of a replacement in percent. Network nodes require twice the price for a blob transaction. */
const dearerPercent = { plain: 10n, blobs: 100n } as const

/** Maximum number of pending transactions per sender, and of senders. */
const maxPerSender = 64
const maxSenders = 1_000

function isReplacement(old: SignedTransaction, next: SignedTransaction): boolean {
  const percent = dearerPercent[old.type === 3 ? 'blobs' : 'plain']
  const isDearer = (before: bigint, after: bigint): boolean => after * 100n >= before * (100n + percent) && after > before
  if (old.type === 3 && (next.type !== 3 || !isDearer(old.maxFeePerBlobGas, next.maxFeePerBlobGas))) return false
  return isDearer(feeCapOf(old), feeCapOf(next)) && isDearer(tipCapOf(old), tipCapOf(next))
}

/** Pending transactions by sender and nonce. The pool has no state: the chain checks nonces and balances. */
export class MemoryPool {
  readonly #bySender = new Map<Address, Map<bigint, Waiting>>()
  readonly #byHash = new Map<Hash, Waiting>()

  get(hash: Hash): Waiting | undefined {
    return this.#byHash.get(hash)
  }

  /** Adds a transaction. @returns the reason why it is refused, in the text of other clients; undefined when it was added */
  add(waiting: Waiting): string | undefined {
    if (this.#byHash.has(waiting.hash)) return 'already known'
    const own = this.#bySender.get(waiting.sender) ?? new Map<bigint, Waiting>()
    const old = own.get(waiting.tx.nonce)
    if (old && !isReplacement(old.tx, waiting.tx)) return 'replacement transaction underpriced'
    if (!old && (own.size >= maxPerSender || this.#bySender.size >= maxSenders)) return 'txpool is full'
    if (old) this.#byHash.delete(old.hash)
    own.set(waiting.tx.nonce, waiting)
    this.#bySender.set(waiting.sender, own)
    this.#byHash.set(waiting.hash, waiting)
    return undefined
  }

  /** Returns the nonce after the sender's pending transactions without a gap. @param nonce of the account */
  nextNonce(sender: Address, nonce: bigint): bigint {
    const own = this.#bySender.get(sender)
    let next = nonce
    while (own?.has(next)) next++
    return next
  }

  /**
   * Returns the next transaction with the highest tip of all senders. A sender without a transaction at its next nonce is skipped. @param nonceOf
   * nonce of an account
   */
  next(baseFee: bigint, nonceOf: (sender: Address) => bigint, isPassedOver: (sender: Address) => boolean): Waiting | undefined {
    let best: Waiting | undefined
    for (const [sender, own] of this.#bySender) {
      const first = isPassedOver(sender) ? undefined : own.get(nonceOf(sender))
      if (first && tipPerGas(first.tx, baseFee) >= 0n && (!best || tipPerGas(first.tx, baseFee) > tipPerGas(best.tx, baseFee))) best = first
    }
    return best
  }

  remove({ hash, sender, tx }: Waiting): void {
    const own = this.#bySender.get(sender)
    if (own?.get(tx.nonce)?.hash === hash) own.delete(tx.nonce)
    if (own?.size === 0) this.#bySender.delete(sender)
    this.#byHash.delete(hash)
  }

  /** Empties the pool. @returns its transactions, by nonce */
  takeAll(): readonly Waiting[] {
    const all = [...this.#byHash.values()].sort((a, b) => (a.tx.nonce < b.tx.nonce ? -1 : 1))
    this.#bySender.clear()
    this.#byHash.clear()
    return all
  }

  /** Removes transactions that can no longer be included. */
  prune(nonceOf: (sender: Address) => bigint): void {
    for (const waiting of this.#byHash.values()) if (waiting.tx.nonce < nonceOf(waiting.sender)) this.remove(waiting)
  }
}
