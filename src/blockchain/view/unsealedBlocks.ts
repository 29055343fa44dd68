import type { ParentBlock } from '#block/execution/executeBlock'
import { placesIn } from '#block/execution/transactionPlaces'
import type { ExecutionConfig } from '#block/executionConfig'
import { parentAbove, readsAbove } from '#pending/pendingState'
import type { BlockId } from '#types/blockRef'
import type { ChainReceipt } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { PendingBlock } from '#types/pendingBlock'
import type { WorldReads } from '#types/worldReads'
import { storedReceipts } from '../chainStore.ts'
import { executedReceipts, feesIn } from './viewedReceipts.ts'

/** Returns one receipt per transaction. */
export function pendingReceipts({ header, transactions, executed }: PendingBlock, config: ExecutionConfig): readonly ChainReceipt[] {
  return executedReceipts(storedReceipts({ executed }), feesIn({ header, transactions }, config))
}

/**
 * The pending blocks of a view, found by their ids and by the hashes that the blocks above them name. The hash of the newest one is not known yet, so
 * callers use its id.
 */
export class UnsealedBlocks {
  readonly #blocks: readonly PendingBlock[]
  /** oldest first */
  readonly ids: readonly BlockId[]

  constructor(blocks: readonly PendingBlock[]) {
    this.#blocks = blocks
    this.ids = blocks.map(({ id: hash, header: { number } }) => ({ number, hash }))
  }

  /** The sealed block below them. */
  get below(): Hash | undefined {
    return this.#blocks[0]?.header.parentHash
  }

  find(hash: Hash): PendingBlock | undefined {
    return this.#blocks[this.#indexOf(hash)]
  }

  /** Returns a block as a parent to run messages on. @param on the block below the first */
  parent(hash: Hash, on: ParentBlock): ParentBlock {
    const index = this.#indexOf(hash)
    return parentAbove(on, this.#blocks.slice(0, index + 1), this.#blocks[index + 1]?.header.parentHash)
  }

  /** @param on the block below the first */
  state(hash: Hash, on: ParentBlock): WorldReads {
    return readsAbove(on, this.#blocks.slice(0, this.#indexOf(hash) + 1))
  }

  /** Returns the place of a transaction. */
  place(transaction: Hash): { readonly block: BlockId; readonly index: number } | undefined {
    for (const [i, block] of this.#blocks.entries()) {
      const index = placesIn(block).get(transaction)
      if (index !== undefined) return { block: this.ids[i] as BlockId, index }
    }
    return undefined
  }

  #indexOf(hash: Hash): number {
    return this.#blocks.findIndex(({ id }, i) => id === hash || this.#blocks[i + 1]?.header.parentHash === hash)
  }
}
