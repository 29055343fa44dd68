import type { Address, Hash } from '#types/ids'
import type { BlobSidecar } from '#types/signing'
import type { SignedTransaction } from '#types/transaction'

/** A transaction that waits for its block. */
export type Waiting = {
  readonly hash: Hash
  /** EIP-2718 bytes, as they stand in a block */
  readonly raw: Uint8Array
  readonly tx: SignedTransaction
  readonly sender: Address
  readonly sidecar?: BlobSidecar
}

/** The most that a transaction pays per gas, and of it the most that the miner gets; wei. */
const feeCapOf = (tx: SignedTransaction): bigint => ('maxFeePerGas' in tx ? tx.maxFeePerGas : tx.gasPrice)
const tipCapOf = (tx: SignedTransaction): bigint => ('maxPriorityFeePerGas' in tx ? tx.maxPriorityFeePerGas : tx.gasPrice)

/** What the miner gets per gas; below zero when the fee cap does not reach the base fee. */
export function tipAt(tx: SignedTransaction, baseFee: bigint): bigint {
  const room = feeCapOf(tx) - baseFee
  const tip = tipCapOf(tx)
  return tip < room ? tip : room
}

/** How much dearer a replacement must be, in percent: nodes on the network ask twice the price for a transaction with blobs. */
const dearerPercent = { plain: 10n, blobs: 100n } as const

/** Nobody's list grows without end. */
const maxPerSender = 64
const maxSenders = 1_000

function isReplacement(old: SignedTransaction, next: SignedTransaction): boolean {
  const percent = dearerPercent[old.type === 3 ? 'blobs' : 'plain']
  const isDearer = (before: bigint, after: bigint): boolean => after * 100n >= before * (100n + percent) && after > before
  if (old.type === 3 && (next.type !== 3 || !isDearer(old.maxFeePerBlobGas, next.maxFeePerBlobGas))) return false
  return isDearer(feeCapOf(old), feeCapOf(next)) && isDearer(tipCapOf(old), tipCapOf(next))
}

/** Transactions that wait, by sender and nonce. It knows no state: the chain checks nonces and balances. */
export class MemoryPool {
  readonly #bySender = new Map<Address, Map<bigint, Waiting>>()
  readonly #byHash = new Map<Hash, Waiting>()

  get(hash: Hash): Waiting | undefined {
    return this.#byHash.get(hash)
  }

  /** @returns why it is refused, in the words of other clients; undefined: it waits now */
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

  /** The nonce after those that wait without a gap. @param nonce of the account */
  nextNonce(sender: Address, nonce: bigint): bigint {
    const own = this.#bySender.get(sender)
    let next = nonce
    while (own?.has(next)) next++
    return next
  }

  /** Each sender's next transaction, the highest tip first; none of a sender whose next is missing. @param nonceOf of accounts */
  next(baseFee: bigint, nonceOf: (sender: Address) => bigint, isPassedOver: (sender: Address) => boolean): Waiting | undefined {
    let best: Waiting | undefined
    for (const [sender, own] of this.#bySender) {
      const first = isPassedOver(sender) ? undefined : own.get(nonceOf(sender))
      if (first && tipAt(first.tx, baseFee) >= 0n && (!best || tipAt(first.tx, baseFee) > tipAt(best.tx, baseFee))) best = first
    }
    return best
  }

  remove({ hash, sender, tx }: Waiting): void {
    const own = this.#bySender.get(sender)
    if (own?.get(tx.nonce)?.hash === hash) own.delete(tx.nonce)
    if (own?.size === 0) this.#bySender.delete(sender)
    this.#byHash.delete(hash)
  }

  /** Empties the pool. @returns what was in it, each sender's by nonce */
  takeAll(): readonly Waiting[] {
    const all = [...this.#byHash.values()].sort((a, b) => (a.tx.nonce < b.tx.nonce ? -1 : 1))
    this.#bySender.clear()
    this.#byHash.clear()
    return all
  }

  /** Forgets what can never be in a block any more. */
  prune(nonceOf: (sender: Address) => bigint): void {
    for (const waiting of this.#byHash.values()) if (waiting.tx.nonce < nonceOf(waiting.sender)) this.remove(waiting)
  }
}
