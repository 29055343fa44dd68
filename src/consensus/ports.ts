import type { L1Block } from '#derive/ports'
import type { BlockId, L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'

export type L1Label = 'latest' | 'safe' | 'finalized'

/**
 * L1 as the driver asks for it, everything verified by hash. A call fails with a Fault: severity 'retry' when another try may help (its data
 * may hold `retryAfterMs`), 'fatal' when none will. All calls end early when the signal is aborted, with its reason.
 */
export interface L1Source {
  /** undefined: the chain has no such block yet (nothing finalized) */
  head(label: L1Label, signal: AbortSignal): Promise<L1Ref | undefined>
  /** The canonical block at the number, asked anew each time: whether a block that was read before is still canonical. undefined: not there (yet) */
  ref(number: number, signal: AbortSignal): Promise<L1Ref | undefined>
  /**
   * The canonical block at a number, or any by its hash, with transactions and receipts. It may be read ahead: one that a reorg has since
   * replaced is noticed by the parent hash of the next, as long as a second call for the number gives the new one.
   * undefined: not there (yet)
   */
  block(at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined>
  /** 131,072 bytes each, in the order of the hashes, each verified against its own; 'missing': the slot has no such blobs any more */
  blobs(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<readonly Uint8Array[] | 'missing'>
}

/** After reading this L1 block (and those before it) this L2 block is safe. */
export type SafeHeadEntry = { readonly l1: BlockId; readonly safe: BlockId }

/**
 * What derivation made safe, and when: restart point, finality, `optimism_safeHeadAtL1Block`. Entries ascend in both numbers; an L1 block that
 * made nothing safe has none, one that was read in several steps has several. Synchronous; the driver is the only writer.
 */
export interface SafeHeadStore {
  /** The last entry whose L1 block number is at most this one. */
  atOrBelow(l1Number: number): SafeHeadEntry | undefined
  last(): SafeHeadEntry | undefined
  /** The entry before this one. */
  before(entry: SafeHeadEntry): SafeHeadEntry | undefined
  /** Adds entries after the last one: all are durable in the end, or none. */
  append(entries: readonly SafeHeadEntry[]): void
  /** Removes all entries after this one; all there are when undefined. Durable. */
  dropAfter(entry: SafeHeadEntry | undefined): void
}

/** Ordered bytes to bytes, in one durable table: what `createSafeHeadStore` needs. node/ fits store/ to it. */
export interface OrderedTable {
  /** The entry with the greatest key ≤ this one, in lexicographic order. */
  floor(key: Uint8Array): { readonly key: Uint8Array; readonly value: Uint8Array } | undefined
  /** First removes the keys > `after` (when given), then puts: all of it is durable in the end, or none. */
  write(change: {
    readonly deleteAfter?: Uint8Array
    readonly puts: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]
  }): void
}
