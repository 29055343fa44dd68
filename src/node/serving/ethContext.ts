import { childBaseFee } from '#block/fees/baseFee'
import type { Execution } from '#blockchain/execution'
import { timestampOf } from '#chainspec/blockTime'
import { forkConfigsOf } from '#chainspec/forkConfigs'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { defaultMaxTraceBytes } from '#evm/tracing'
import { createTracedWasmEvm, createWasmEvm } from '#evm/wasmEvm'
import { CacheSet } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { createBlockCache } from '#rpc/cache/blockCache'
import type { EthContext } from '#rpc/context'
import { defaultEthLimits } from '#rpc/context'
import { createFilters } from '#rpc/filters/filters'
import type { PendingFeed } from '#rpc/pendingPorts'
import type { HeadFeed, SyncProgress } from '#rpc/ports'
import type { SequencerLink } from '#rpc/submitPorts'
import { pendingRounds } from '#rpc/subscriptions/pendingRounds'
import { createCallExecutor } from '#simulation/call/callExecutor'
import { createCallRuns } from '#simulation/call/callRuns'
import { createMetering } from '#simulation/metering/meter'
import { createTracing } from '#simulation/trace/tracing'
import type { ExecutionPeerNetwork } from '#types/executionPeer'
import type { TransactionPool } from '#types/transactionPool'
import { type CacheName, codeBytesOf, divideCache, usualCacheBytes } from '../memory/cacheBudget.ts'

export type EthContextDeps = {
  readonly execution: Pick<Execution, 'view'>
  readonly config: RollupConfig
  readonly clock: Clock
  /** notifies of new canonical blocks */
  readonly heads: HeadFeed
  /** absent: the node keeps no transactions */
  readonly pool?: TransactionPool | undefined
  /** present: transactions are forwarded to it */
  readonly sequencer?: SequencerLink | undefined
  /** of this program */
  readonly version: string
  /** maximum time of one eth_call or eth_estimateGas; 0: no limit; absent: five seconds */
  readonly callTimeoutMs?: number | undefined
  /** makes ids of filters; absent: random ids */
  readonly newFilterId?: (() => string) | undefined
  /** undefined: not syncing */
  readonly sync: () => SyncProgress | undefined
  /** peers of the execution network; absent: there are none */
  readonly peers?: ExecutionPeerNetwork | undefined
  /** notifies of pending blocks; absent: none are followed */
  readonly preconfirmed?: PendingFeed | undefined
  /** the sealed block that `pending` names without a pending block; absent: latest */
  readonly pendingFallback?: 'latest' | 'finalized' | undefined
  /** bound of one answer, at which traces and logs end; absent: none */
  readonly maxAnswerBytes?: number | undefined
  /** caches of this thread; absent: those of the smallest budget */
  readonly caches?: CacheSet<CacheName> | undefined
}

/** The default of go-ethereum. */
const defaultCallTimeoutMs = 5_000

/** Creates the context of the execution half's methods, except the cancellation token of a call. */
export function createEthContext(deps: EthContextDeps): Omit<EthContext, 'cancellation'> {
  const {
    execution,
    config,
    clock,
    heads,
    pool,
    sequencer,
    peers,
    version,
    sync,
    preconfirmed,
    caches = new CacheSet(divideCache(usualCacheBytes(0))),
    callTimeoutMs = defaultCallTimeoutMs,
    maxAnswerBytes = Number.POSITIVE_INFINITY,
  } = deps
  const { traceBytes, logBytes } = defaultEthLimits
  const maxTraceBytes = Math.min(defaultMaxTraceBytes, maxAnswerBytes)
  const evm = caches.add('callCode', (bytes) => createWasmEvm({ codeBytes: codeBytesOf(bytes) }))
  const traced = caches.add('callCode', (bytes) => createTracedWasmEvm({ codeBytes: codeBytesOf(bytes) }))
  return {
    chain: { view: () => execution.view(), sync },
    executor: createCallExecutor({ execution, evm, config, clock }, callTimeoutMs),
    calls: createCallRuns({ execution, evm, traced, config }),
    tracing: createTracing({ execution, evm, traced, config, clock, maxTraceBytes }, caches),
    metering: createMetering({ execution, evm, config, clock }),
    fees: { params: config.eip1559, nextBaseFee: (parent) => childBaseFee(config, parent, timestampOf(config, parent.number + 1)) },
    ...(pool && { pool }),
    ...(sequencer && { sequencer }),
    ...(peers && { peers }),
    ...(preconfirmed && { preconfirmed: pendingRounds(preconfirmed) }),
    pendingFallback: deps.pendingFallback ?? 'latest',
    heads,
    clock,
    blocks: createBlockCache(caches),
    filters: createFilters({ clock, newId: deps.newFilterId, caches }),
    chainId: config.l2ChainId,
    forks: config,
    forkConfigs: forkConfigsOf(config),
    clientVersion: `basalt/v${version}/${process.platform}-${process.arch}/node${process.versions.node}`,
    limits: { ...defaultEthLimits, traceBytes: Math.min(traceBytes, maxAnswerBytes), logBytes: Math.min(logBytes, maxAnswerBytes) },
  }
}
