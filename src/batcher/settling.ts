import type { BlockId, L2Ref } from '#types/blockRef'
import type { AccountNonces, L1Tip } from './ports.ts'

/** State from which the batcher decides whether to begin at the safe head. */
export type SettlingView = {
  readonly nonces: AccountNonces
  /** read after the nonces: the transactions they count are in this block or before it */
  readonly tip: L1Tip
  /** own transactions that are not included */
  readonly pending: number
  readonly safe: L2Ref
  readonly currentL1: BlockId | undefined
  readonly nowMs: number
}

/** Number of L1 blocks after which pending transactions of an earlier batcher count as stuck. */
const stuckL1Blocks = 3

/**
 * Decides when derivation has read all transactions of the account, so that posting the blocks after the safe head posts none twice. In order: own
 * transactions are included; L1's pool has no others of the account; derivation has read past the L1 block of the last one; the safe head is the same
 * in two rounds.
 */
export class Settling {
  readonly #stuckMs: number
  #waitsForPool: { readonly sinceMs: number; readonly sinceL1: number } | undefined
  #readTo: number | undefined
  #safe: L2Ref | undefined

  /** @param stuckMs time that a transaction of an earlier batcher may wait in the pool before its nonce is reused */
  constructor(stuckMs: number) {
    this.#stuckMs = stuckMs
  }

  /** @returns whether to begin after the view's safe head */
  isSettled(view: SettlingView): boolean {
    if (view.pending > 0 || this.#isPoolBusy(view)) {
      this.#readTo = undefined
      return false
    }
    // the account has never posted
    if (view.nonces.latest === 0n) return true
    this.#readTo ??= view.tip.number + 1
    if (view.currentL1 === undefined || view.currentL1.number < this.#readTo) return false
    const isStill = this.#safe?.hash === view.safe.hash
    this.#safe = view.safe
    return isStill
  }

  #isPoolBusy({ nonces, nowMs, tip }: SettlingView): boolean {
    if (nonces.pending <= nonces.latest) {
      this.#waitsForPool = undefined
      return false
    }
    this.#waitsForPool ??= { sinceMs: nowMs, sinceL1: tip.number }
    const { sinceMs, sinceL1 } = this.#waitsForPool
    return nowMs - sinceMs < this.#stuckMs || tip.number - sinceL1 < stuckL1Blocks
  }
}
