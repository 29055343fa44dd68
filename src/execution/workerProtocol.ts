import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { Genesis } from '#chain/genesis'
import type { BuildResult, Heads, InsertResult } from '#engine/port'
import { Fault, type Severity } from '#lib/fault'
import type { LogFields, LogLevel } from '#lib/log'
import type { BlockId } from '#types/blockRef'
import type { Address, Hash } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { PooledTransaction, PoolOutcome } from '#types/pooledTransaction'
import type { Execution } from './execution.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import type { HeadRecord } from './headRecord.ts'
import type { BlockLimits, PoolRemoval, TransactionPool } from './poolPort.ts'
import type { TxPoolFacts, TxPoolLimits } from './txPool.ts'
import type { Packed, PackedBlock, PackedBytes } from './workerBlocks.ts'

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

export type WorkerCall = EngineCall | PoolCall
export type WorkerAnswers = EngineAnswers & PoolAnswers
export type WorkerMethod = keyof WorkerAnswers

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly call: WorkerCall }
  /** the build of this call is to end now */
  | { readonly kind: 'seal'; readonly id: number }
  | { readonly kind: 'genesis'; readonly genesis: Genesis }
  | { readonly kind: 'close' }

/** How much a block was, for metrics. */
export type ExecutedFacts = { readonly number: number; readonly gasUsed: bigint; readonly transactions: number; readonly ms: number }

/** What execution and its pool hold at the moment. */
export type ExecutionSizes = ReturnType<Execution['sizes']> & { readonly pool?: TxPoolFacts }

/** A directory of its own beside the tables, so that the lock of the tables holds for it too. */
export const journalDir = (dir: string): string => join(dir, 'journal')
/** The journal of the transaction pool. */
export const poolJournalDir = (dir: string): string => join(dir, 'pool')

export type FromWorker =
  /** the store is empty, and the chain cannot begin without its genesis */
  | { readonly kind: 'genesis-wanted' }
  /** the stores are open for readers, and a first record was published */
  | { readonly kind: 'opened' }
  /** nothing more will come: it could not start, or something broke that it cannot go on without */
  | { readonly kind: 'failed'; readonly error: SentError }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: WorkerAnswers[WorkerMethod] }
  /** the forced transactions of the build of this call are executed */
  | { readonly kind: 'sound'; readonly id: number }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: SentError }
  /** the record of heads as it is from now on; its overlays are those from index to index of the record before, then the added ones */
  | {
      readonly kind: 'published'
      readonly heads: Omit<HeadRecord, 'overlays'>
      readonly kept: { readonly from: number; readonly to: number }
      readonly added: readonly PackedBlock[]
      readonly sizes: ExecutionSizes
    }
  | { readonly kind: 'executed'; readonly facts: ExecutedFacts }
  | { readonly kind: 'commit'; readonly phase: 'begin' | 'end' }
  | {
      readonly kind: 'log'
      readonly module: string
      readonly level: LogLevel
      readonly message: string
      readonly fields: LogFields
      /** fields that are errors */
      readonly errors: Readonly<Record<string, SentError>>
    }

/** An error as it crosses between threads. */
export type SentError = {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly cause: SentError | undefined
  /** of a Fault only */
  readonly fault:
    | { readonly code: string; readonly severity: Severity; readonly fix: string; readonly data: Readonly<Record<string, unknown>> }
    | undefined
}

const maxCauses = 8

/** Never fails, whatever was thrown. */
export function sendError(error: unknown, depth = 0): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined, cause: undefined, fault: undefined }
  const { name, message, stack, cause } = error
  const fault =
    error instanceof Fault ? { code: error.code, severity: error.severity, fix: error.fix, data: sendable(error.data) } : undefined
  return { name, message, stack, cause: cause === undefined || depth === maxCauses ? undefined : sendError(cause, depth + 1), fault }
}

/** A Fault again with all it had, a RangeError, or an Error with the name that it had. */
export function receiveError({ name, message, stack, cause, fault }: SentError): Error {
  const reason = cause && receiveError(cause)
  const options = reason && { cause: reason }
  let error: Error
  if (fault) error = new Fault(fault.code, fault.severity, message, fault.fix, fault.data, reason)
  else error = name === 'RangeError' ? new RangeError(message, options) : new Error(message, options)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}

/** Values that can be cloned; the others as texts. */
export function sendable(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, isPlain(value) ? value : String(value)]))
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol'
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}
