import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { ReaderSettings } from '#executionThread/wire/protocol'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { Json } from '#rpc/json'
import type { ApiKey } from '#rpc/limits/rateLimit'
import type { Readiness, SyncProgress } from '#rpc/ports'
import type { SequencerLink } from '#rpc/submitPorts'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { CacheBytes } from '../memory/cacheBudget.ts'
import type { ListenOptions, Urls } from '../serving/servers.ts'
import type { SlowCallFacts } from '../tracing/tracing.ts'
import type { PeerCall } from './peerCalls.ts'

export type RpcWorkerSettings = {
  /** number of the thread, from 0; a filter's id begins with it */
  readonly number: number
  readonly threads: number
  readonly chain: ReaderSettings
  readonly config: RollupConfig
  readonly version: string
  readonly listen: Pick<ListenOptions, 'http' | 'ws'>
  /** bound of the anonymous memory of the process */
  readonly memoryMaxBytes: number
  /** of the caches of this thread */
  readonly cacheBytes: CacheBytes
  readonly callTimeoutMs: number | undefined
  readonly pendingFallback: 'latest' | 'finalized' | undefined
  /** as in the options of the node */
  readonly slowCallMs: number | undefined
  /** the node has pending blocks */
  readonly hasPending: boolean
  /** transactions are forwarded through main's link */
  readonly hasSequencer: boolean
  /** the node has execution peers */
  readonly hasPeers: boolean
  readonly sync: SyncProgress | undefined
  /** main makes spans of slow calls and of announced blocks */
  readonly isTraced: boolean
}

/** A call for the thread that has its filter. */
export type PassedCall = { readonly method: string; readonly params: readonly unknown[] }

export type PassedAnswer =
  | { readonly kind: 'result'; readonly result: Json }
  /** a whole result as JSON text */
  | { readonly kind: 'text'; readonly text: string }
  /** an error for the caller */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }

/** Metrics of one thread in prom-client's form. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[]

/** Calls and notices that main takes from an RPC thread. */
export type ForRpcWorker = {
  opened(urls: Urls): void
  /** The thread cannot start or continue, and ends. */
  failed(error: TransferredError): void
  log(line: LogLine): void
  /** Returns why the node is not ready. */
  readiness(): Readiness
  /** Passes on a call for a filter of another thread. */
  passOn(worker: number, call: PassedCall): Promise<PassedAnswer>
  /** Notifies the other threads of a new transaction in the pool. */
  pending(hash: Hash): void
  send: SequencerLink['send']
  forwarded: SequencerLink['forwarded']
  status: SequencerLink['status']
  slow(call: SlowCallFacts): void
  /** Subscribers of the thread were notified of a block. @param endMs wall clock */
  announced(block: BlockId, endMs: number): void
  peers: PeerCall
}

/** Calls and notices that an RPC thread takes from main. */
export type OfRpcWorker = {
  sync(progress: SyncProgress | undefined): void
  pending(hash: Hash): void
  passed(call: PassedCall): Promise<PassedAnswer>
  metrics(): Promise<MetricValues>
  /** Replaces the API keys of the rate limits. */
  apiKeys(keys: readonly ApiKey[]): void
  /** Answers as soon as the thread's event loop turns. */
  alive(): void
  /** Lets unanswered calls finish for a while, then ends the thread. */
  close(): void
}
