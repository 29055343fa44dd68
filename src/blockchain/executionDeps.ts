import type { FlashblockListener } from '#block/building/buildFlashblocks'
import type { BuildPool } from '#block/building/buildPool'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionWatch } from '#block/execution/executionWatch'
import type { ReadKeys } from '#block/execution/readKeys'
import type { Senders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import type { Genesis } from '#chainspec/genesis'
import type { Evm } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { MemoryGuard } from '#lib/memoryGuard'
import type { HistoryCaches } from '#state/historyCache'
import type { RootThreads } from '#state/rootParts'
import type { Journal, Kv } from '#store/ports'
import type { Tries } from '#trie/tries'
import type { Retention } from '#types/chainDistance'
import { type Committer, threadSliceMs } from './commit/committer.ts'
import type { HeadRecord } from './heads/headRecord.ts'
import type { PruneStep } from './pruning/pruner.ts'
import type { StageTimes } from './stageTimes.ts'

export type ExecutionDeps = {
  readonly kv: Kv
  /**
   * Keeps acknowledged blocks until they are committed; the caller closes it after the execution. Absent: one in memory, for chains that
   * are not kept.
   */
  readonly journal?: Journal
  /** Writes the transactions that move the chain. Absent: this thread. */
  readonly committer?: Committer
  readonly evm: Evm
  readonly config: ExecutionConfig
  /** Read only when the store is empty. */
  readonly genesis: () => Genesis
  /** Source of transactions of built blocks. Absent: blocks have forced transactions only. */
  readonly pool?: BuildPool
  /** Receives flashblocks of built blocks. Absent: none are made. */
  readonly flashblocks?: FlashblockListener
  /** Absent: its own. */
  readonly senders?: Senders
  /** Computes state roots. Absent: its own, with a cache of `usualTrieCacheBytes`. */
  readonly tries?: Tries
  /** Compute parts of state roots of large blocks. Absent: this thread computes all. */
  readonly rootThreads?: RootThreads | undefined
  /** Receives the keys that blocks read. Absent: nothing reads ahead. */
  readonly keys?: ReadKeys | undefined
  /** Caches of reads of old states. Absent: the usual ones of the thread. */
  readonly history?: HistoryCaches
  /** Progress that other threads watch. Absent: not watched. */
  readonly watch?: ExecutionWatch
  /** Measures the stages of blocks. Absent: they are not measured. */
  readonly stages?: StageTimes
  readonly clock: Clock
  readonly log: Log
  /** While memory is short, fewer executed blocks stay in memory and new ones wait for commits. Absent: never. */
  readonly memory?: Pick<MemoryGuard, 'onChange'>
  /** Called right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Called with each executed block and its execution time, canonical or not. */
  readonly onExecuted?: (block: ExecutedBlock, ms: number) => void
  /** Called after each step that removed older states. */
  readonly onPruned?: (step: PruneStep) => void
  /**
   * Called with each record right after it was published, including the first. A record with a block precedes the commit of that block; the record
   * without it follows that commit.
   */
  readonly onPublish?: (record: HeadRecord) => void
}

export type ExecutionOptions = {
  /** Older states that are kept; others are removed after commits. Absent: all are kept. */
  readonly retention?: Retention | undefined
  /** Maximum bytes of executed blocks in memory. */
  readonly maxTreeBytes?: number
  /** Minimum free bytes of the disk; below it new blocks are refused. */
  readonly minFreeBytes?: number
  /** Target duration of a transaction. Other calls wait for it, unless another thread writes it. 0: one transaction for each block. */
  readonly commitSliceMs?: number
  /**
   * Maximum time of uncommitted blocks: their execution, measured in a warm process, and two milliseconds for each. A start after a kill executes them
   * again, and takes about twice as long for them.
   */
  readonly maxUncommittedMs?: number
  /** Maximum execution time of an inserted payload, which is abandoned then. Further attempts have up to eight times as long. */
  readonly maxPayloadMs?: number
  /** Maximum execution time of all flashblocks of a pending block, which is dropped then. */
  readonly maxPendingMs?: number
}

/** Bytes of the cache of trie nodes of an execution without a budget. Its memory is used as it fills. */
export const usualTrieCacheBytes = 64 * 2 ** 20

/** `maxPayloadMs`: a block of 600 Mgas ends within it for any messages, at 100 ns per gas. */
export const usualOptions: Required<Omit<ExecutionOptions, 'retention'>> = {
  maxTreeBytes: 256 * 2 ** 20,
  minFreeBytes: 0,
  commitSliceMs: 25,
  maxUncommittedMs: 200,
  maxPayloadMs: 60_000,
  maxPendingMs: 4_000,
}

/**
 * Options of an execution whose transactions another thread writes: they hold up no call, and a page that several blocks change is written once (ADR 0032).
 * Only a branch of many blocks that becomes canonical at once takes several transactions: its rows are in memory until they are written.
 */
export const commitThreadOptions = { commitSliceMs: threadSliceMs, maxUncommittedMs: 700 }

/** Adds the usual options to given ones. */
export function completeOptions(given: ExecutionOptions, committer: Committer | undefined): typeof usualOptions & ExecutionOptions {
  return { ...usualOptions, ...(committer && commitThreadOptions), ...given }
}

/** Sizes held at the moment, in bytes and blocks; `reused`: number of blocks sealed from their flashblocks. */
export type HeldSizes = {
  readonly journalBytes: number
  readonly treeBytes: number
  readonly overlayBlocks: number
  readonly reused: number
}
