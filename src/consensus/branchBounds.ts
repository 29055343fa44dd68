import type { BlockId } from '#types/blockRef'
import type { Payload } from '#types/payload'
import { payloadBytes } from './followWindow.ts'

export type BranchOptions = {
  /** maximum number and bytes of the blocks of a branch in one insert: the execution half holds all of them in memory until one is the head */
  readonly branchBlocks: number
  readonly branchBytes: number
}

/** Smallest share of the bounds that is tried. */
const leastShare = 2 ** -8

/** Bounds of an insert of blocks up to this node's head. They shrink while the execution half holds fewer blocks. */
export class BranchBounds {
  readonly #options: BranchOptions
  #share = 1

  constructor(options: BranchOptions) {
    this.#options = options
  }

  isFull(payloads: readonly Payload[]): boolean {
    const { branchBlocks, branchBytes } = this.#options
    if (payloads.length >= branchBlocks * this.#share) return true
    return payloads.reduce((sum, each) => sum + payloadBytes(each), 0) >= branchBytes * this.#share
  }

  /** Returns whether a smaller insert may help: the execution half dropped a block of this one before the last was inserted. */
  shrink({ number }: BlockId, [first]: readonly Payload[]): boolean {
    if (first === undefined || number < first.blockNumber || this.#share <= leastShare) return false
    this.#share /= 2
    return true
  }

  /** Called after an insert. */
  reset(): void {
    this.#share = 1
  }
}
