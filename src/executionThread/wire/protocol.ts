import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { ExecutionConfig } from '#block/executionConfig'
import type { Execution } from '#blockchain/execution'
import type { HeadRecord } from '#blockchain/heads/headRecord'
import type { Genesis } from '#chainspec/genesis'
import type { BuildResult, Heads, InsertResult } from '#engine/port'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { HeartbeatSettings } from '#lib/supervisor'
import type { PendingOutcome } from '#pending/pendingPort'
import type { TxPoolFacts, TxPoolLimits } from '#txpool/txPool'
import type { BlockId } from '#types/blockRef'
import type { Flashblock } from '#types/flashblock'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import type { BlockLimits, PoolRemoval, TransactionPool } from '#types/transactionPool'
import type { Packed, PackedBlock, PackedBytes } from './packedBlocks.ts'
import type { PackedPending } from './packedPending.ts'

/** What the worker is started with; the port is its end of the channel. */
export type WorkerSettings = {
  readonly port: MessagePort
  /** of the chain's tables; the journals lie in directories inside, under the same lock */
  readonly dir: string
  readonly config: ExecutionConfig
  /** With less than this free on the disk no new block is taken. */
  readonly minFreeBytes: number
  /** of the transaction pool */
  readonly pool?: TxPoolLimits
  /** Blocks that are built with the pool are told so often; absent: nobody is told before they are sealed. */
  readonly flashblockMs?: number
  /** for executing a payload that is inserted; `ExecutionOptions` */
  readonly maxPayloadMs?: number
  /** for executing a block that is not sealed; `ExecutionOptions` */
  readonly maxPendingMs?: number
  /** of an `ExecutionWatch` */
  readonly watch: SharedArrayBuffer
  /** `PublishedSequence`, the same for all who read the chain */
  readonly shown: SharedArrayBuffer
  /** present: the parent process watches the thread */
  readonly heartbeat?: HeartbeatSettings
}

/** What a thread needs to read the chain; the port is its end of a channel to the worker. */
export type ReaderSettings = Pick<WorkerSettings, 'port' | 'dir' | 'config' | 'shown'> & {
  /** four bytes: the number of the last record that it took */
  readonly taken: SharedArrayBuffer
}

/** The calls of the Engine port as they cross: payloads packed. */
export type EngineCall =
  | { readonly method: 'insert'; readonly payload: Packed<Payload> }
  | {
      readonly method: 'build'
      readonly parent: BlockId
      readonly attributes: Packed<PayloadAttributes>
      /** a message that seals it will come */
      readonly isSealedLater: boolean
    }
  | { readonly method: 'setHeads'; readonly heads: Heads }
  | { readonly method: 'heads' }
  | { readonly method: 'payload'; readonly at: number | Hash }
  | { readonly method: 'storageRoot'; readonly account: Address; readonly block: BlockId }

/** What each of them is answered with. */
export type EngineAnswers = {
  readonly insert: InsertResult
  readonly build: Exclude<BuildResult, { kind: 'built' }> | { readonly kind: 'built'; readonly payload: Packed<Payload> }
  readonly setHeads: undefined
  readonly heads: Heads
  readonly payload: Packed<Payload> | undefined
  readonly storageRoot: Hash | undefined
}

/** The calls of the pool as they cross; what is added in one turn of the event loop is one call. */
export type PoolCall =
  | { readonly method: 'poolAdd'; readonly raws: PackedBytes }
  | { readonly method: 'poolGet'; readonly hash: Hash }
  | { readonly method: 'poolNextNonce'; readonly sender: Address }
  | { readonly method: 'poolSize' }
  | { readonly method: 'poolContent'; readonly sender: Address | undefined }
  | { readonly method: 'poolRemove'; readonly what: PoolRemoval }
  | { readonly method: 'poolLimitBlocks'; readonly change: BlockLimits }

/** What each of them is answered with. */
export type PoolAnswers = {
  /** in the order of the transactions */
  readonly poolAdd: readonly PoolOutcome[]
  readonly poolGet: PooledTransaction | undefined
  readonly poolNextNonce: bigint | undefined
  readonly poolSize: Awaited<ReturnType<TransactionPool['size']>>
  readonly poolContent: PackedContent
  readonly poolRemove: readonly Hash[]
  readonly poolLimitBlocks: undefined
}

/** Transactions of a pool, their bytes packed. */
export type PackedContent = { readonly listed: readonly Omit<PooledTransaction, 'raw'>[]; readonly raws: PackedBytes }

/** The calls of `PendingPort` as they cross. */
export type PendingCall =
  | {
      readonly method: 'pendingTake'
      readonly flashblock: Packed<Flashblock>
      readonly freshUntilMs: number
      /** `SharedSenders`: who sends the call recovers some too */
      readonly senders: SharedArrayBuffer
    }
  | { readonly method: 'pendingDrop'; readonly reason: string }

/** What each of them is answered with. */
export type PendingAnswers = { readonly pendingTake: PendingOutcome; readonly pendingDrop: undefined }

export type WorkerCall = EngineCall | PoolCall | PendingCall
export type WorkerAnswers = EngineAnswers & PoolAnswers & PendingAnswers
export type WorkerMethod = keyof WorkerAnswers

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly call: WorkerCall }
  /** the build of this call is to end now */
  | { readonly kind: 'seal'; readonly id: number }
  | { readonly kind: 'genesis'; readonly genesis: Genesis }
  /** whoever has the other end of this port is told of the chain too, and may ask the pool */
  | ({ readonly kind: 'reader' } & Pick<ReaderSettings, 'port' | 'taken'>)
  | { readonly kind: 'close' }

/** What a reader may say. */
export type FromReader = Extract<ToWorker, { kind: 'call' }> & { readonly call: PoolCall }

/** How much a block was, for metrics. */
export type ExecutedFacts = { readonly number: number; readonly gasUsed: bigint; readonly transactions: number; readonly ms: number }

/** What execution and its pool hold at the moment. */
export type ExecutionSizes = ReturnType<Execution['sizes']> & { readonly pool?: TxPoolFacts }

/** A directory of its own beside the tables, so that the lock of the tables holds for it too. */
export const journalDir = (dir: string): string => join(dir, 'journal')
/** The journal of the transaction pool. */
export const poolJournalDir = (dir: string): string => join(dir, 'pool')

/** The record of heads as it is from now on; its overlays are those from index to index of the record before, then the added ones. */
export type PublishedRecord = {
  readonly kind: 'published'
  /** in `PublishedSequence` */
  readonly number: number
  readonly heads: Omit<HeadRecord, 'overlays' | 'pending'>
  readonly kept: { readonly from: number; readonly to: number }
  readonly added: readonly PackedBlock[]
  /** undefined: nothing is pending */
  readonly pending: PackedPending | undefined
  readonly sizes: ExecutionSizes
}

/** What became of a call. */
export type CallNews =
  | { readonly kind: 'answer'; readonly id: number; readonly answer: WorkerAnswers[WorkerMethod] }
  /** the forced transactions of the build of this call are executed */
  | { readonly kind: 'sound'; readonly id: number }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: TransferredError }

/** What every reader is told. */
export type ToReader = PublishedRecord | CallNews

export type FromWorker =
  | ToReader
  /** the store is empty, and the chain cannot begin without its genesis */
  | { readonly kind: 'genesis-wanted' }
  /** the stores are open for readers, and a first record was published */
  | { readonly kind: 'opened' }
  /** nothing more will come: it could not start, or something broke that it cannot go on without */
  | { readonly kind: 'failed'; readonly error: TransferredError }
  | { readonly kind: 'executed'; readonly facts: ExecutedFacts }
  | { readonly kind: 'commit'; readonly phase: 'begin' | 'end' }
  /** a `BuiltFlashblock` as `v8.serialize` writes it */
  | { readonly kind: 'increment'; readonly flashblock: Uint8Array }
  | { readonly kind: 'log'; readonly line: LogLine }
