import type { ForkIdChain } from '#chainspec/forkId'
import type { EngineApi } from '#engine/engineApi'
import type { Clock } from '#lib/clock'
import type { TransactionPool } from '#types/transactionPool'
import type { BlockCache } from './blockCache.ts'
import type { CallRuns, Executor } from './callPorts.ts'
import type { Filters } from './filters.ts'
import type { Metering } from './meterPorts.ts'
import type { PendingFeed } from './pendingPorts.ts'
import type { AdminNode, ChainReader, FeeMarket, HeadFeed, RollupNode } from './ports.ts'
import type { MatcherUse } from './sharedMatchers.ts'
import type { SequencerLink } from './submitPorts.ts'
import type { Notification } from './subscriptions/notification.ts'
import type { Tracing } from './tracePorts.ts'

/** One running call, as the method sees it. */
export type CancellationToken = {
  /** nobody waits for the answer any more: work in slices stops */
  readonly isCancelled: boolean
}
export type CallContext = { readonly cancellation: CancellationToken }

export type EthLimits = {
  /** gas of an eth_call that names none, and the most it may name */
  readonly callGas: bigint
  /** blocks of one eth_getLogs */
  readonly logBlocks: number
  /** logs of one eth_getLogs over several blocks */
  readonly logResults: number
  /** their JSON */
  readonly logBytes: number
  /** time of one eth_getLogs */
  readonly logMs: number
}

/** As Base's execution client has them, which gives up an answer of more bytes too. */
export const defaultEthLimits: EthLimits = {
  callGas: 50_000_000n,
  logBlocks: 100_000,
  logResults: 20_000,
  logBytes: 160_000_000,
  logMs: 20_000,
}

/** What the methods of the execution half get. */
export type EthContext = CallContext & {
  readonly chain: ChainReader
  readonly executor: Executor
  readonly calls: CallRuns
  readonly tracing: Tracing
  readonly metering: Metering
  readonly fees: FeeMarket
  /** tells of new blocks as they become canonical */
  readonly heads: HeadFeed
  /** absent: transactions are not kept here */
  readonly pool?: TransactionPool
  /** present: transactions go there */
  readonly sequencer?: SequencerLink
  /** tells of blocks that are not sealed; absent: none is followed */
  readonly preconfirmed?: PendingFeed
  /** the sealed block that `pending` names while there is no newer one */
  readonly pendingFallback: 'latest' | 'finalized'
  readonly blocks: BlockCache
  readonly filters: Filters
  readonly clock: Clock
  readonly chainId: number
  /** which forks the chain follows from when on, and what it began with */
  readonly forks: ForkIdChain
  /** name/version/platform/runtime */
  readonly clientVersion: string
  readonly limits: EthLimits
}

/** What the methods of the engine port get. */
export type EngineContext = EthContext & { readonly engine: EngineApi }

/** What the methods of the consensus half get. */
export type RollupContext = CallContext & { readonly rollup: RollupNode; readonly version: string }

/** What the methods for an operator get, beside those of the consensus half. */
export type AdminContext = RollupContext & { readonly admin: AdminNode }

/** What tells by itself, from when it is opened until it is disposed of. */
export type Feed = { readonly kind: 'feed'; open(tell: (notification: Notification) => void): Disposable }

/** What a connection can be told of as it happens. `use`: the logs it looks for, given back at its end. */
export type Subscription = { readonly use?: MatcherUse } & (
  | { readonly kind: 'newHeads' | 'newPendingTransactions' }
  /** `changes`: the JSON of what is new since it was asked last, in order; asked again after each new head, by one at a time */
  | { readonly kind: 'logs'; readonly changes: () => Promise<readonly string[]> }
  | Feed
)

/** The subscriptions of one connection, as the methods see them. */
export interface Subscriptions {
  /**
   * @returns its id; it is told from when the answer with the id is on its way
   * @throws RpcError when the connection has as many as it may have, or all connections together; what the subscription uses is given back
   */
  subscribe(subscription: Subscription): string
  /** @returns whether there was one with this id */
  unsubscribe(id: string): boolean
}

/** What the methods of a connection that stays open get. */
export type SocketContext = EthContext & { readonly subscriptions: Subscriptions }
