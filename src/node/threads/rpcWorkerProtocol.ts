import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { ReaderSettings } from '#executionThread/wire/protocol'
import type { TransferredError } from '#lib/errorTransfer'
import type { LogLine } from '#lib/logTransfer'
import type { Json } from '#rpc/json'
import type { SyncProgress } from '#rpc/ports'
import type { ApiKey } from '#rpc/rateLimit'
import type { SequencerLink } from '#rpc/submitPorts'
import type { Hash } from '#types/ids'
import type { ListenOptions, Urls } from '../serving/servers.ts'

/** What an RPC thread is started with. */
export type RpcWorkerSettings = {
  /** of the thread, from 0; a filter's id begins with it */
  readonly number: number
  /** how many there are */
  readonly threads: number
  readonly chain: ReaderSettings
  readonly config: RollupConfig
  readonly version: string
  readonly listen: Pick<ListenOptions, 'http' | 'ws'>
  readonly callTimeoutMs: number | undefined
  readonly pendingFallback: 'latest' | 'finalized' | undefined
  /** blocks are known before they are sealed */
  readonly hasPending: boolean
  /** transactions go there: main has the link */
  readonly hasSequencer: boolean
  readonly sync: SyncProgress | undefined
}

/** A call that another thread has what it needs for. */
export type PassedCall = { readonly method: string; readonly params: readonly unknown[] }

/** What became of it. */
export type PassedAnswer =
  | { readonly kind: 'result'; readonly result: Json }
  /** a whole result as JSON text */
  | { readonly kind: 'text'; readonly text: string }
  /** what the caller did wrong */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: Json }

/** Metrics of one thread as prom-client gives them. */
export type MetricValues = readonly MetricObjectWithValues<MetricValue<string>>[]

/** What main answers to an RPC thread. */
export type ForRpcWorker = {
  /** It listens. */
  opened(urls: Urls): void
  /** It cannot start, or go on: it ends. */
  failed(error: TransferredError): void
  log(line: LogLine): void
  /** Why the node's answers are not fresh. */
  problems(): readonly string[]
  /** The call of a filter that another thread has. */
  passOn(worker: number, call: PassedCall): Promise<PassedAnswer>
  /** A transaction is new in the pool: for the other threads to know. */
  pending(hash: Hash): void
  send: SequencerLink['send']
  forwarded: SequencerLink['forwarded']
  status: SequencerLink['status']
}

/** What an RPC thread answers to main. */
export type OfRpcWorker = {
  sync(progress: SyncProgress | undefined): void
  pending(hash: Hash): void
  passed(call: PassedCall): Promise<PassedAnswer>
  metrics(): Promise<MetricValues>
  /** From now on these are the keys. */
  apiKeys(keys: readonly ApiKey[]): void
  /** Answers as soon as its event loop turns. */
  alive(): void
  /** Lets answers under way finish for a while, then the thread ends. */
  close(): void
}
