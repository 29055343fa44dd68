import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { ExecutionConfig } from '#block/executionConfig'
import type { Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { PruneStep } from '#blockchain/pruning/pruner'
import type { RowRetention } from '#blockchain/segments/rowPruner'
import type { MoverStep } from '#blockchain/segments/segmentMover'
import type { StageTimes } from '#blockchain/stageTimes'
import type { Genesis } from '#chainspec/genesis'
import type { BuildResult, Heads, InsertResult } from '#engine/port'
import type { WantedState } from '#evm/ports'
import type { FactsByName } from '#lib/caches'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { PackedBytes } from '#lib/packedBytes'
import type { HeartbeatSettings } from '#lib/supervisor'
import type { PendingOutcome } from '#pending/pendingPort'
import type { FetchedState } from '#state/fetchedState'
import type { StateRequest } from '#state/stateSource'
import type { TxPoolFacts, TxPoolLimits } from '#txpool/txPool'
import type { BlockId } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import type { ReceivedFlashblock } from '#types/flashblock'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { FlashblockLocation } from '#types/pendingBlock'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import type { BlockLimits, PoolRemoval, TransactionPool } from '#types/transactionPool'
import type { RootLink } from '../roots/rootLink.ts'
import type { Packed, PackedBlock } from './packedBlocks.ts'
import type { PackedPending } from './packedPending.ts'

/** Settings of the execution thread; the port is its end of the channel. */
export type WorkerSettings = {
  readonly port: MessagePort
  /** directory of the chain's tables; the journals are in directories inside, under the same lock */
  readonly dir: string
  readonly config: ExecutionConfig
  /** Minimum free bytes of the disk; below it new blocks are refused. */
  readonly minFreeBytes: number
  /** rows of finalized blocks to keep; absent: all */
  readonly rows?: RowRetention
  /** limits of the transaction pool */
  readonly pool?: TxPoolLimits
  /** Interval of flashblocks while a block is built with the pool; absent: none are published. */
  readonly flashblockMs?: number
  /** bound of the anonymous memory of the process; absent: none */
  readonly memoryMaxBytes?: number
  /** bytes of the thread's caches; absent: usual ones */
  readonly cacheBytes?: ExecutionCacheBytes
  /** see `ExecutionOptions` */
  readonly retention?: Retention
  /** maximum time to execute an inserted payload; see `ExecutionOptions` */
  readonly maxPayloadMs?: number
  /** maximum time to execute a pending block; see `ExecutionOptions` */
  readonly maxPendingMs?: number
  /** buffer of a `KeyRing`; absent: no thread reads ahead */
  readonly keys?: SharedArrayBuffer
  /** links to threads that compute parts of state roots; absent: none do */
  readonly roots?: readonly RootLink[]
  /** buffer of an `ExecutionWatch` */
  readonly watch: SharedArrayBuffer
  /** buffer of `PublishedSequence`, the same for all readers of the chain */
  readonly shown: SharedArrayBuffer
  /** true: facts of executed blocks have their times */
  readonly isTraced?: boolean
  /** present: the parent process watches the thread */
  readonly heartbeat?: HeartbeatSettings
  /** present: a thread of its own writes the commits, which the parent process watches; absent: execution writes them */
  readonly commits?: { readonly heartbeat: HeartbeatSettings }
}

/** Bytes of the caches of the execution thread. */
export type ExecutionCacheBytes = {
  readonly senders: number
  /** trie nodes for state roots */
  readonly nodes: number
  /** reads of the states below side branches */
  readonly branches: number
  /** translated code that the interpreter keeps between blocks */
  readonly code: number
}

/** Settings of a thread that reads the chain; the port is its end of a channel to the execution thread. */
export type ReaderSettings = Pick<WorkerSettings, 'port' | 'dir' | 'config' | 'shown'> & {
  /** four bytes: the number of the last record that the reader took */
  readonly taken: SharedArrayBuffer
  /** directory of the recorded proofs; absent: none are recorded */
  readonly proofsDir?: string
}

/**
 * Calls of the Engine port as they cross threads, with packed payloads. `senders`: memory of the `SenderTable` that sender threads fill; undefined:
 * they do not.
 */
export type EngineCall =
  | { readonly method: 'insert'; readonly payload: Packed<Payload>; readonly senders: SharedArrayBuffer | undefined }
  | {
      readonly method: 'build'
      readonly parent: BlockId
      readonly attributes: Packed<PayloadAttributes>
      readonly senders: SharedArrayBuffer | undefined
      /** true: a `seal` message will follow */
      readonly isSealedLater: boolean
    }
  | { readonly method: 'setHeads'; readonly heads: Heads }
  | { readonly method: 'heads' }
  | { readonly method: 'payload'; readonly at: number | Hash }
  | { readonly method: 'storageRoot'; readonly account: Address; readonly block: BlockId }

/** Answer of each call. */
export type EngineAnswers = {
  readonly insert: InsertResult
  readonly build: Exclude<BuildResult, { kind: 'built' }> | { readonly kind: 'built'; readonly payload: Packed<Payload> }
  readonly setHeads: undefined
  readonly heads: Heads
  readonly payload: Packed<Payload> | undefined
  readonly storageRoot: Hash | undefined
}

/** Calls of the pool as they cross threads; transactions added in one turn of the event loop are one call. */
export type PoolCall =
  | { readonly method: 'poolAdd'; readonly raws: PackedBytes }
  | { readonly method: 'poolGet'; readonly hash: Hash }
  | { readonly method: 'poolNextNonce'; readonly sender: Address }
  | { readonly method: 'poolSize' }
  | { readonly method: 'poolContent'; readonly sender: Address | undefined }
  | { readonly method: 'poolRemove'; readonly what: PoolRemoval }
  | { readonly method: 'poolLimitBlocks'; readonly change: BlockLimits }

/** What became of one transaction: `failed` when its check ended with an error. */
export type AddResult = PoolOutcome | { readonly kind: 'failed'; readonly error: TransferredError }

/** Answer of each call. */
export type PoolAnswers = {
  /** in the order of the transactions */
  readonly poolAdd: readonly AddResult[]
  readonly poolGet: PooledTransaction | undefined
  readonly poolNextNonce: bigint | undefined
  readonly poolSize: Awaited<ReturnType<TransactionPool['size']>>
  readonly poolContent: PackedContent
  readonly poolRemove: readonly Hash[]
  readonly poolLimitBlocks: undefined
}

/** Transactions of a pool with their bytes packed. */
export type PackedContent = { readonly listed: readonly Omit<PooledTransaction, 'raw'>[]; readonly raws: PackedBytes }

/** Calls of `PendingPort` as they cross threads. */
export type PendingCall =
  | {
      readonly method: 'pendingTake'
      readonly flashblock: Packed<ReceivedFlashblock>
      readonly after: FlashblockLocation | undefined
      readonly freshUntilMs: number
    }
  | { readonly method: 'pendingDrop'; readonly reason: string }

/** Answer of each call. */
export type PendingAnswers = { readonly pendingTake: PendingOutcome; readonly pendingDrop: undefined }

/** Fetches and stores a part of a partial state that a reader lacks. */
export type StateCall = { readonly method: 'complete'; readonly wanted: WantedState; readonly withinMs: number }
/** Stores parts of a partial state. */
export type EnterCall = { readonly method: 'enter'; readonly parts: FetchedState }
type StateAnswers = { readonly complete: undefined; readonly enter: undefined }

export type WorkerCall = EngineCall | PoolCall | PendingCall | StateCall | EnterCall
export type WorkerAnswers = EngineAnswers & PoolAnswers & PendingAnswers & StateAnswers
export type WorkerMethod = keyof WorkerAnswers

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly call: WorkerCall }
  /** ends the build of this call now */
  | { readonly kind: 'seal'; readonly id: number }
  | { readonly kind: 'genesis'; readonly genesis: Genesis }
  | FetchedAnswer
  /** adds a reader: its port receives published records and may send the calls of `FromReader` */
  | ({ readonly kind: 'reader' } & Pick<ReaderSettings, 'port' | 'taken'>)
  | { readonly kind: 'close' }

/** Answer to `state-wanted` with the same id. */
export type FetchedAnswer =
  | { readonly kind: 'state'; readonly id: number; readonly fetched: FetchedState }
  | { readonly kind: 'state-refused'; readonly id: number; readonly error: TransferredError }

/** Messages of a reader. */
export type FromReader = Extract<ToWorker, { kind: 'call' }> & { readonly call: PoolCall | StateCall }

/** Facts of an executed block, for metrics. `trace`: with `isTraced` only */
export type ExecutedFacts = {
  readonly number: number
  readonly gasUsed: bigint
  readonly transactions: number
  readonly ms: number
  readonly trace?: ExecutedTrace
}

/** Times of an executed block. The stages are zero for a block that was built. */
export type ExecutedTrace = {
  readonly hash: Hash
  /** wall clock */
  readonly endMs: number
  readonly ms: number
  readonly stages: Pick<StageTimes['ms'], 'transactions' | 'seal'>
}

/** Sizes that execution and its pool hold. */
export type ExecutionSizes = ReturnType<Execution['sizes']> & {
  readonly pool?: TxPoolFacts
  readonly caches?: FactsByName<keyof ExecutionCacheBytes>
  readonly stageMs?: StageTimes['ms']
}

/** Returns the directory of the journal, inside that of the tables, so that the lock of the tables covers it. */
export const journalDir = (dir: string): string => join(dir, 'journal')
/** Returns the directory of the transaction pool's journal. */
export const poolJournalDir = (dir: string): string => join(dir, 'pool')

/** A new record of heads. Its overlays are those of the previous record from `kept.from` to `kept.to`, then the added ones. */
export type PublishedRecord = {
  readonly kind: 'published'
  /** number in `PublishedSequence` */
  readonly number: number
  readonly heads: Omit<HeadRecord, 'overlays' | 'pending'>
  readonly kept: { readonly from: number; readonly to: number }
  readonly added: readonly PackedBlock[]
  /** undefined: there are no pending blocks */
  readonly pending: PackedPending | undefined
  readonly sizes: ExecutionSizes
}

/** Messages about a call. */
export type CallNews =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: WorkerAnswers[WorkerMethod] }
  /** the forced transactions of this call's build are executed */
  | { readonly kind: 'forced-executed'; readonly id: number }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: TransferredError }

/** Messages to every reader. */
export type ToReader = PublishedRecord | CallNews

export type FromWorker =
  | ToReader
  /** the store is empty: the execution thread needs the genesis */
  | { readonly kind: 'genesis-wanted' }
  /** the state is partial and lacks a part */
  | { readonly kind: 'state-wanted'; readonly id: number; readonly request: StateRequest }
  /** the stores are open for readers, and a first record was published */
  | { readonly kind: 'opened' }
  /** the last message: the start failed, or an error ended execution */
  | { readonly kind: 'failed'; readonly error: TransferredError }
  | { readonly kind: 'executed'; readonly facts: ExecutedFacts }
  | { readonly kind: 'pruned'; readonly step: PruneStep }
  | { readonly kind: 'commit'; readonly phase: 'begin' | 'end' }
  /** a step of the mover of finalized rows */
  | { readonly kind: 'moved'; readonly step: MoverStep }
  /** a `BuiltFlashblock` in the format of `v8.serialize` */
  | { readonly kind: 'flashblock'; readonly flashblock: Uint8Array }
  | { readonly kind: 'log'; readonly line: LogLine }
