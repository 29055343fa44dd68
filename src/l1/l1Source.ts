import type { BlobSchedule } from '#chainspec/blobSchedule'
import type { L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import { CacheSet, type CacheSource } from '#lib/caches'
import type { Clock } from '#lib/clock'
import type { Endpoint } from '#lib/endpoint'
import type { Fetch } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { isRetryable, type Random } from '#lib/retry'
import type { L1Witness } from '#trust/ports'
import { createAgreement, type L1Identity } from './agreement.ts'
import { createBeacon } from './beacon.ts'
import { type BlobChecks, checksInThisThread } from './blobChecks.ts'
import { maxConfigBytes, watchBlobSchedule } from './blobScheduleWatch.ts'
import { createL1Blocks } from './blocks.ts'
import { type Budget, createBudget } from './budget.ts'
import type { L1Cache } from './cache.ts'
import { createCachedL1 } from './cachedL1.ts'
import { endpointsOf } from './endpoint.ts'
import { Failover } from './failover.ts'
import { L1HeadView } from './heads.ts'
import type { L1Metrics } from './metrics.ts'
import {
  maxScheduleBytes,
  type ProtocolVersionsWatch,
  type ProtocolVersionsWatchOptions,
  watchProtocolVersions,
} from './protocolVersionsWatch.ts'
import { createRpc } from './rpc.ts'
import { createKept } from './storedL1.ts'
import { maxWordBytes, type UnsafeSignerWatch, type UnsafeSignerWatchOptions, watchUnsafeSigner } from './unsafeSignerWatch.ts'
import { createUsage } from './usage.ts'
import { createWitnesses, maxProofBytes } from './witnesses.ts'

export type L1SourceDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: L1Metrics
  /** absent: no cache survives a restart */
  readonly cache?: L1Cache
  /** blocks and blobs in memory; absent: own caches of `cacheBytes` */
  readonly caches?: CacheSource<'l1'>
  /** absent: blobs are checked in this thread */
  readonly blobChecks?: BlobChecks
}

export type L1SourceOptions = L1Identity & {
  /** in order of preference, at least one */
  readonly rpcUrls: readonly string[]
  /** in order of preference; may be empty when no blobs are needed */
  readonly beaconUrls: readonly string[]
  readonly timeoutMs: number
  /** limit of one response body */
  readonly maxBodyBytes: number
  /** number of blocks to fetch in advance */
  readonly readAheadBlocks: number
  /** limit of blocks and blobs together, in memory, without `caches` */
  readonly cacheBytes: number
  /** calls to one endpoint in any second, each call of a batch counted; absent: no limit */
  readonly maxRequestsPerSec?: number
  /**
   * Accepts the endpoint's list of transactions for a block with blobs when the transactions root does not match, as with anvil. Every transaction
   * hash is still verified. For a devnet only: such an endpoint can make this node derive anything.
   */
  readonly trustTransactions?: boolean
  /** seconds between slots, for a beacon API that does not report it (HTTP 404) */
  readonly slotSec?: number
  /** blob schedule of L1 in use; absent: headers decide between Cancun's and Prague's parameters */
  readonly blobSchedule?: BlobSchedule
}

export const defaultL1Options = {
  timeoutMs: 20_000,
  maxBodyBytes: 64 * 1_048_576,
  readAheadBlocks: 8,
  cacheBytes: 64 * 1_048_576,
} as const

/** L1 source with a check to run at a start. */
export type HttpL1Source = L1Source &
  Disposable & {
    /**
     * Checks at once that every endpoint serves the rollup's L1. Endpoints that serve another chain are excluded. Endpoints that do not respond are
     * checked when they are used, so an L1 that is down is not an error.
     * @throws Fault L1_WRONG_CHAIN, L1_WRONG_BEACON (fatal) when all endpoints are excluded
     */
    preflight(signal: AbortSignal): Promise<void>
    /** Compares the blob schedules that endpoints report with the schedule in use, until disposed. @see `watchBlobSchedule` */
    watchBlobSchedule(): Disposable
    /** Reads the fork schedule that L1 publishes, until disposed. @see `watchProtocolVersions` */
    watchProtocolVersions(options: ProtocolVersionsWatchOptions): ProtocolVersionsWatch
    /** Reads the unsafe block signer from L1, until disposed. @see `watchUnsafeSigner` */
    watchUnsafeSigner(options: UnsafeSignerWatchOptions): UnsafeSignerWatch
    /** Each JSON-RPC endpoint alone, for statements on which endpoints must agree. */
    readonly witnesses: readonly L1Witness[]
    /** Resolves when all blocks and blobs read so far have reached the cache. */
    settled(): Promise<void>
  }

type Endpoints = { readonly all: readonly Endpoint[]; readonly failover: Failover; readonly budgetOf: (endpoint: Endpoint) => Budget }

function createEndpoints(
  deps: L1SourceDeps,
  api: 'rpc' | 'beacon',
  urls: readonly string[],
  maxRequestsPerSec: number | undefined,
): Endpoints {
  const endpoints = endpointsOf(urls)
  const budgets = new Map(endpoints.map((endpoint) => [endpoint, createBudget(deps.clock, maxRequestsPerSec)]))
  const budgetOf = (endpoint: Endpoint): Budget => {
    const budget = budgets.get(endpoint)
    if (budget === undefined) throw new RangeError(`unknown endpoint ${endpoint.name}`)
    return budget
  }
  return {
    all: endpoints,
    budgetOf,
    failover: new Failover({ ...deps, hasBudget: (endpoint) => budgetOf(endpoint).has(1) }, api, endpoints),
  }
}

/**
 * Creates the L1 source over HTTP: JSON-RPC and beacon API. All data is verified; every failure is a Fault. While L1 keeps pace with the clock, it
 * needs at most four JSON-RPC calls and one beacon API call per L1 block. Dispose it to stop reading ahead.
 */
export function createL1Source(deps: L1SourceDeps, options: L1SourceOptions): HttpL1Source {
  const { log, cache, blobChecks: checks = checksInThisThread, caches = new CacheSet({ l1: options.cacheBytes }) } = deps
  if (options.trustTransactions) log.warn('transactions of L1 blocks with blobs are trusted without a root, for a devnet only')
  const usage = createUsage(deps)
  const execution = createEndpoints(deps, 'rpc', options.rpcUrls, options.maxRequestsPerSec)
  const rpcDeps = { ...deps, usage, budgetOf: execution.budgetOf }
  const rpc = createRpc(rpcDeps, options)
  const agreement = createAgreement(rpc, options)
  const blocks = createL1Blocks({ rpc, failover: execution.failover, agreement }, options)
  const consensus = createEndpoints(deps, 'beacon', options.beaconUrls, options.maxRequestsPerSec)
  const beacon = createBeacon({ ...deps, ...consensus, checks, usage }, options)
  // a configured slot time means a devnet, where every block moves the labels
  const { slotSec } = options
  const heads = new L1HeadView({ ...deps, blocks, usage }, slotSec === undefined ? {} : { labelEveryMs: slotSec * 1_000 })
  const kept = createKept({ log, checks, ...(cache && { cache }) })
  const source = createCachedL1({ ...deps, blocks, beacon, heads, kept, caches }, options)
  let versions: ProtocolVersionsWatch | undefined
  let signers: UnsafeSignerWatch | undefined
  return {
    ...source,
    async block(at, signal): Promise<L1Block | undefined> {
      const block = await source.block(at, signal)
      if (block) versions?.onBlock(block)
      if (block) signers?.onBlock(block)
      return block
    },
    settled: () => kept.settled(),
    witnesses: createWitnesses({
      rpc: createRpc(rpcDeps, { timeoutMs: options.timeoutMs, maxBodyBytes: maxProofBytes }),
      endpoints: execution.all,
      agreement,
    }),
    watchProtocolVersions(watched): ProtocolVersionsWatch {
      const limits = { timeoutMs: options.timeoutMs, maxBodyBytes: maxScheduleBytes }
      versions = watchProtocolVersions({ ...deps, rpc: createRpc(rpcDeps, limits), endpoints: execution.all }, watched)
      return versions
    },
    watchUnsafeSigner(watched): UnsafeSignerWatch {
      const limits = { timeoutMs: options.timeoutMs, maxBodyBytes: maxWordBytes }
      const head = source.head.bind(source)
      signers = watchUnsafeSigner({ ...deps, head, rpc: createRpc(rpcDeps, limits), endpoints: execution.all }, watched)
      return signers
    },
    watchBlobSchedule(): Disposable {
      const { timeoutMs } = options
      return watchBlobSchedule(
        { ...deps, rpc: createRpc(rpcDeps, { timeoutMs, maxBodyBytes: maxConfigBytes }), endpoints: execution.all },
        options,
      )
    },
    async preflight(signal): Promise<void> {
      await blocks.agree(signal)
      if (consensus.failover.size === 0) return
      try {
        const head = await heads.head('latest', signal)
        if (head) await beacon.agree(head, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (!isRetryable(error)) throw error
      }
    },
  }
}
