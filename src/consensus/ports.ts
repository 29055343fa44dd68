import type { L1Block } from '#derive/ports'
import type { Heads } from '#engine/port'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

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

/**
 * Another L2 node that is followed: nothing of it is believed unless the execution half makes the same of it. A call fails with a Fault of
 * severity 'retry' when another try may help, 'fatal' when none will. All calls end early when the signal is aborted, with its reason.
 */
export interface L2Source {
  /** undefined: the source has no such block (nothing finalized yet) */
  head(label: 'latest' | 'safe' | 'finalized', signal: AbortSignal): Promise<BlockId | undefined>
  /** Canonical blocks from a number on, ascending, up to `count`; fewer where its chain ends. Each is linked to the one before by its parent hash. */
  payloads(from: number, count: number, signal: AbortSignal): Promise<readonly Payload[]>
  /** Any block by its hash; undefined: not known there (any more). */
  payload(hash: Hash, signal: AbortSignal): Promise<Payload | undefined>
  /**
   * Resolves when the source may have a new head: told by it, or after a poll interval; after `withinMs` at the latest, since nothing tells of
   * its other labels. Rejects only with the signal's reason.
   */
  waitForHead(signal: AbortSignal, withinMs?: number): Promise<void>
}

/** `gap`: the parent of the first payload is not known here. `refused`: it would leave out the safe head. */
export type UnsafeOutcome =
  | { readonly kind: 'inserted'; readonly head: L2Ref }
  | { readonly kind: 'invalid'; readonly number: number; readonly reason: string }
  | { readonly kind: 'gap'; readonly missing: BlockId }
  | { readonly kind: 'refused'; readonly reason: string }

/** The engine queue as those feed it who know blocks that L1 does not confirm yet: follow mode, an operator, a sequencer. */
export interface UnsafeInbox {
  /** as labelled last; undefined until a start point is found */
  readonly heads: Heads | undefined
  /**
   * Executes linked payloads, oldest first, and makes the last one the unsafe head, also when it leaves the branch of the present one. Payloads
   * that are canonical already cost nothing. Faults of the engine of severity 'retry' are tried again inside, until the signal is aborted.
   */
  insert(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome>
  /** The canonical block at a number; as patient with the engine as `insert`. undefined: there is none */
  canonical(number: number, signal: AbortSignal): Promise<Payload | undefined>
  /** Goes back to the safe head: for blocks on which nothing can be built here, though they are canonical. */
  giveUp(signal: AbortSignal): Promise<void>
  /** Labels canonical blocks as their source does, where no L1 says better; what is not canonical here, or no step forward, is passed over. */
  label(labels: { readonly safe: BlockId | undefined; readonly finalized: BlockId | undefined }, signal: AbortSignal): Promise<void>
}
