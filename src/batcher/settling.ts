import type { BlockId, L2Ref } from '#types/blockRef'
import type { AccountNonces, L1Tip } from './ports.ts'

/** What is known when the batcher asks whether it may begin at the safe head. */
export type SettlingView = {
  readonly nonces: AccountNonces
  /** asked for after the nonces: what these count is in this block or before */
  readonly tip: L1Tip
  /** own transactions that are not included */
  readonly pending: number
  readonly safe: L2Ref
  readonly currentL1: BlockId | undefined
  readonly nowMs: number
}

/** Blocks of L1, and time, after which what others (a former life) left in L1's pool counts as stuck. */
const stuckL1Blocks = 3

/**
 * Decides when all that the account has posted has been read by derivation: then what follows the safe head is to be posted, and nothing twice.
 * In order: own transactions are included, L1's pool has no others of the account, derivation has read past the L1 block that holds the last of
 * them, the safe head stands still from one round to the next.
 */
export class Settling {
  readonly #stuckMs: number
  #waitsForPool: { readonly sinceMs: number; readonly sinceL1: number } | undefined
  #readTo: number | undefined
  #safe: L2Ref | undefined

  /** @param stuckMs how long another's transaction may wait in the pool before its nonce is taken over */
  constructor(stuckMs: number) {
    this.#stuckMs = stuckMs
  }

  /** @returns whether to begin after the safe head of the view */
  isSettled(view: SettlingView): boolean {
    if (view.pending > 0 || this.#isPoolBusy(view)) {
      this.#readTo = undefined
      return false
    }
    // nobody has ever posted
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
