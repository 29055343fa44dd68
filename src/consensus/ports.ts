import type { L1Block } from '#derive/ports'
import type { Heads } from '#engine/port'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'

export type L1Label = 'latest' | 'safe' | 'finalized'

/**
 * L1 as the driver reads it, with all data verified by hash. Calls fail with a Fault of severity 'retry' when a retry may help (its data may have
 * `retryAfterMs`), otherwise 'fatal'. An aborted signal ends a call with the signal's reason.
 */
export interface L1Source {
  /** Returns a labelled block; undefined when there is none yet */
  head(label: L1Label, signal: AbortSignal): Promise<L1Ref | undefined>
  /**
   * Returns the canonical block at the number. Each call requests it again, to check that a block read before is still canonical. undefined: not
   * there
   */
  ref(number: number, signal: AbortSignal): Promise<L1Ref | undefined>
  /**
   * Returns the canonical block at a number, or any block by its hash, with transactions and receipts. The block may have been read ahead: if a reorg
   * replaced it since, the parent hash of the next block shows it, and a second call for the number must return the new block. undefined: not there
   */
  block(at: number | Hash, signal: AbortSignal): Promise<L1Block | undefined>
  /** Returns the blobs, 131,072 bytes each, in the order of the hashes, each verified against its hash; 'missing': the slot does not have them */
  blobs(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<readonly Uint8Array[] | 'missing'>
}

/** Record: after reading this L1 block and all before it, this L2 block is safe. */
export type SafeHeadEntry = { readonly l1: BlockId; readonly safe: BlockId }

/**
 * Records of the safe heads by L1 block, for restarts, finality and `optimism_safeHeadAtL1Block`. Records ascend in both numbers. An L1 block that
 * made no block safe has no record; one that was read in several steps has several. Synchronous; the driver is the only writer.
 */
export interface SafeHeadStore {
  /** Returns the last record whose L1 block number is at most this number. */
  atOrBelow(l1Number: number): SafeHeadEntry | undefined
  last(): SafeHeadEntry | undefined
  /** Returns the record before this one. */
  before(entry: SafeHeadEntry): SafeHeadEntry | undefined
  /** Appends records after the last one. The write is atomic and durable some time later. */
  append(entries: readonly SafeHeadEntry[]): void
  /** Removes all records after this one; all records when undefined. Durable. */
  dropAfter(entry: SafeHeadEntry | undefined): void
}

/** Durable table of ordered bytes for `createSafeHeadStore`. node/ implements it on store/. */
export interface OrderedTable {
  /** Returns the row with the greatest key ≤ this key, in lexicographic order. */
  floor(key: Uint8Array): { readonly key: Uint8Array; readonly value: Uint8Array } | undefined
  /** Removes the keys > `deleteAfter` (when given), then writes `puts`. The change is atomic and durable some time later. */
  write(change: {
    readonly deleteAfter?: Uint8Array
    readonly puts: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]
  }): void
}

/**
 * Followed L2 node. Its blocks are trusted only after the execution half has executed them with the same result. Calls fail with a Fault of severity
 * 'retry' when a retry may help, otherwise 'fatal'. An aborted signal ends a call with the signal's reason.
 */
export interface L2Source {
  /** Returns a labelled head; undefined when the source has none yet */
  head(label: 'latest' | 'safe' | 'finalized', signal: AbortSignal): Promise<BlockId | undefined>
  /**
   * Returns canonical blocks from a number on, ascending, up to `count`; fewer at the end of its chain. Each is linked to the block before it by its
   * parent hash.
   */
  payloads(from: number, count: number, signal: AbortSignal): Promise<readonly Payload[]>
  /** Returns any block by its hash; undefined when the source does not have it. */
  payload(hash: Hash, signal: AbortSignal): Promise<Payload | undefined>
  /**
   * Resolves when the source may have a new head: after a notification or a poll interval, and after `withinMs` at the latest, because there are no
   * notifications of other labels. Rejects only with the signal's reason.
   */
  waitForHead(signal: AbortSignal, withinMs?: number): Promise<void>
}

/** Result of an insert. `gap`: the parent of the first payload is unknown. `refused`: the branch would exclude the safe head. */
export type UnsafeOutcome =
  | { readonly kind: 'inserted'; readonly head: L2Ref }
  | { readonly kind: 'invalid'; readonly number: number; readonly reason: string }
  | { readonly kind: 'gap'; readonly missing: BlockId }
  | { readonly kind: 'refused'; readonly reason: string }

/** Inbox of the engine queue for blocks that L1 does not confirm yet: from follow mode, an operator or a sequencer. */
export interface UnsafeInbox {
  /** current heads; undefined until a start point is found */
  readonly heads: Heads | undefined
  /**
   * Executes linked payloads, oldest first, and makes the last one the unsafe head, even when it is on another branch. Canonical payloads cost
   * nothing. Faults of the engine of severity 'retry' are retried until the signal is aborted.
   */
  insert(payloads: readonly Payload[], signal: AbortSignal): Promise<UnsafeOutcome>
  /** Returns the canonical block at a number; retries as `insert` does. undefined: there is none */
  canonical(number: number, signal: AbortSignal): Promise<Payload | undefined>
  /** Moves the unsafe head back to the safe head, for canonical blocks on which the engine cannot build. */
  giveUp(signal: AbortSignal): Promise<void>
  /**
   * Applies the source's labels to canonical blocks when labels do not come from L1. Ignores blocks that are not canonical, and labels that do not
   * advance.
   */
  label(labels: { readonly safe: BlockId | undefined; readonly finalized: BlockId | undefined }, signal: AbortSignal): Promise<void>
}
