import type { FlashblockListener } from '#block/building/buildFlashblocks'
import type { BuildPool } from '#block/building/buildPool'
import type { ExecutedBlock } from '#block/execution/executedBlock'
import type { ExecutionWatch } from '#block/execution/executionWatch'
import type { Senders } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import type { Genesis } from '#chainspec/genesis'
import type { Evm } from '#evm/ports'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import type { Journal, Kv } from '#store/ports'
import type { HeadRecord } from './heads/headRecord.ts'

export type ExecutionDeps = {
  readonly kv: Kv
  /** Keeps what is acknowledged until it is committed; the caller closes it after the execution. Left out: one in memory, for chains that need not stay. */
  readonly journal?: Journal
  readonly evm: Evm
  readonly config: ExecutionConfig
  /** Read only when the store is empty. */
  readonly genesis: () => Genesis
  /** Where transactions of built blocks come from; left out: they have the forced ones alone. */
  readonly pool?: BuildPool
  /** Left out: nobody is told of blocks before they are sealed. */
  readonly flashblocks?: FlashblockListener
  /** Left out: one of its own. */
  readonly senders?: Senders
  /** Left out: no other thread looks. */
  readonly watch?: ExecutionWatch
  readonly clock: Clock
  readonly log: Log
  /** Told right before and right after each transaction that moves the chain. */
  readonly onCommit?: (phase: 'begin' | 'end') => void
  /** Told of each block that was executed, whatever becomes of it, and how long it took. */
  readonly onExecuted?: (block: ExecutedBlock, ms: number) => void
  /**
   * Told of every record right after it was published, the first one included. A record with a block comes before the commit that has the block;
   * one without comes after it.
   */
  readonly onPublish?: (record: HeadRecord) => void
}

export type ExecutionOptions = {
  /** of executed blocks kept in memory */
  readonly maxTreeBytes?: number
  /** With less than this free on the disk no new block is taken. */
  readonly minFreeBytes?: number
  /** What a transaction of new blocks should take at most: others wait that long. 0: one for each block. */
  readonly commitSliceMs?: number
  /** Time for executing a payload that is inserted; then its execution is abandoned. The next attempts have up to eight times as long. */
  readonly maxPayloadMs?: number
  /** Time for executing all flashblocks of a block that is not sealed; then the block is given up. */
  readonly maxPendingMs?: number
}

/** `maxPayloadMs`: a block of 600 Mgas ends in it whatever its messages do, at 100 ns per gas. */
export const usualOptions: Required<ExecutionOptions> = {
  maxTreeBytes: 256 * 2 ** 20,
  minFreeBytes: 0,
  commitSliceMs: 25,
  maxPayloadMs: 60_000,
  maxPendingMs: 4_000,
}

/** What is held at the moment, in bytes and blocks; `reused`: blocks so far that were sealed out of their flashblocks. */
export type HeldSizes = {
  readonly journalBytes: number
  readonly treeBytes: number
  readonly overlayBlocks: number
  readonly reused: number
}
