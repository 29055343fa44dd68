import type { ForkConfigs } from '#chainspec/forkConfigs'
import type { ForkIdChain } from '#chainspec/forkId'
import type { EngineApi } from '#engine/engineApi'
import type { Clock } from '#lib/clock'
import type { ExecutionPeerNetwork } from '#types/executionPeer'
import type { PeerNetwork } from '#types/peer'
import type { TransactionPool } from '#types/transactionPool'
import type { BlockCache } from './cache/blockCache.ts'
import type { CallRuns, Executor } from './callPorts.ts'
import type { RpcError } from './errors.ts'
import type { Filters } from './filters/filters.ts'
import type { TermsUse } from './filters/sharedMatchers.ts'
import type { Metering } from './meterPorts.ts'
import type { PendingFeed } from './pendingPorts.ts'
import type { AdminNode, ChainReader, FeeMarket, HeadFeed, Operator, RollupNode } from './ports.ts'
import type { SequencerLink } from './submitPorts.ts'
import type { Notification } from './subscriptions/notification.ts'
import type { Tracing } from './tracePorts.ts'

/** Cancellation state of one running call. */
export type CancellationToken = {
  /** true when the client is gone or the call timed out; sliced work then stops */
  readonly isCancelled: boolean
}
export type CallContext = { readonly cancellation: CancellationToken }

export type EthLimits = {
  /** default and maximum gas of an eth_call */
  readonly callGas: bigint
  /** block range of one eth_getLogs */
  readonly logBlocks: number
  /** logs of one eth_getLogs over several blocks */
  readonly logResults: number
  /** size of their JSON */
  readonly logBytes: number
  /** size of the traces of one request, in characters */
  readonly traceBytes: number
  /** time of one eth_getLogs */
  readonly logMs: number
}

/** Limits of Base's execution client, which also bounds the bytes of an answer. */
export const defaultEthLimits: EthLimits = {
  callGas: 50_000_000n,
  logBlocks: 100_000,
  logResults: 20_000,
  logBytes: 160_000_000,
  traceBytes: 128 * 2 ** 20,
  logMs: 20_000,
}

/** Dependencies of the methods of the execution half. */
export type EthContext = CallContext & {
  readonly chain: ChainReader
  readonly executor: Executor
  readonly calls: CallRuns
  readonly tracing: Tracing
  readonly metering: Metering
  readonly fees: FeeMarket
  /** notifies of new canonical blocks */
  readonly heads: HeadFeed
  /** absent: this node keeps no transactions */
  readonly pool?: TransactionPool
  /** present: transactions are forwarded to it */
  readonly sequencer?: SequencerLink
  /** notifies of flashblocks; absent: no feed is followed */
  readonly preconfirmed?: PendingFeed
  /** the sealed block that `pending` means while there is no pending block */
  readonly pendingFallback: 'latest' | 'finalized'
  /** peers of the execution network; absent: there are none */
  readonly peers?: ExecutionPeerNetwork | undefined
  readonly blocks: BlockCache
  readonly filters: Filters
  readonly clock: Clock
  readonly chainId: number
  /** fork schedule and genesis of the chain */
  readonly forks: ForkIdChain
  readonly forkConfigs: ForkConfigs
  /** name/version/platform/runtime */
  readonly clientVersion: string
  readonly limits: EthLimits
}

/** Dependencies of the methods of the engine port. */
export type EngineContext = EthContext & { readonly engine: EngineApi }

/** Dependencies of the methods of the consensus half. */
export type RollupContext = CallContext & {
  readonly rollup: RollupNode
  readonly version: string
  readonly peers?: PeerNetwork | undefined
}

/** Dependencies of the methods that both halves have for their operator. */
export type OperatorContext = CallContext & { readonly operator: Operator }

/** Dependencies of the operator's methods, in addition to those of the consensus half. */
export type AdminContext = RollupContext & OperatorContext & { readonly admin: AdminNode }

/** Source of notifications, from `open` until the result is disposed of. */
export type Feed = {
  readonly kind: 'feed'
  open(tell: (notification: Notification) => void): Disposable
  /** Returns why no further notification will follow; undefined while one may. Called after each new head. */
  readonly ended?: () => RpcError | undefined
}

/** Results to notify of since the last call, as JSON, in order. `isEnd`: they reach the head. */
export type ChainChanges = { readonly texts: Iterable<string>; readonly isEnd: boolean }

/** Notifications that a connection can subscribe to. `use`: memory of its addresses, topics or hashes, released when the subscription ends. */
export type Subscription = { readonly use?: TermsUse } & (
  | { readonly kind: 'newHeads' | 'newPendingTransactions' }
  /** `changes` is called after each new head, and again until it reaches the head; never concurrently */
  | { readonly kind: 'changes'; readonly changes: () => Promise<ChainChanges> }
  | Feed
)

/** The subscriptions of one connection, as methods see them. */
export interface Subscriptions {
  /**
   * Starts a subscription. Its notifications begin once the answer with its id is sent.
   * @returns its id
   * @throws RpcError when the connection or all connections together have reached a limit; the subscription's matcher is then released
   */
  subscribe(subscription: Subscription): string
  /** @returns whether there was a subscription with this id */
  unsubscribe(id: string): boolean
}

/** Dependencies of the methods of a connection that stays open. */
export type SocketContext = EthContext & { readonly subscriptions: Subscriptions }
