import type { L1Source } from '#consensus/ports'
import type { Clock } from '#lib/clock'
import type { Fetch } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { isRetryable, type Random } from '#lib/retry'
import { createAgreement, type L1Identity } from './agreement.ts'
import { createBeacon } from './beacon.ts'
import { type BlobChecks, checksInThisThread } from './blobChecks.ts'
import { createL1Blocks } from './blocks.ts'
import { type Budget, createBudget } from './budget.ts'
import type { L1Cache } from './cache.ts'
import { createCachedL1 } from './cachedL1.ts'
import { type Endpoint, endpointsOf } from './endpoint.ts'
import { createFailover, type Failover } from './failover.ts'
import { createHeads } from './heads.ts'
import { createKept } from './kept.ts'
import type { L1Metrics } from './metrics.ts'
import { createRpc } from './rpc.ts'
import { createUsage } from './usage.ts'

export type L1SourceDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: L1Metrics
  /** absent: nothing is kept over a restart */
  readonly cache?: L1Cache
  /** absent: blobs are checked in this thread */
  readonly blobChecks?: BlobChecks
}

export type L1SourceOptions = L1Identity & {
  /** best first, at least one */
  readonly rpcUrls: readonly string[]
  /** best first; may be empty where no blobs are read */
  readonly beaconUrls: readonly string[]
  readonly timeoutMs: number
  /** of one answer */
  readonly maxBodyBytes: number
  /** how many blocks are fetched before they are wanted */
  readonly readAheadBlocks: number
  /** in memory, of blocks and of blobs together */
  readonly cacheBytes: number
  /** calls to one endpoint in any second, each call of a batch counting; absent: no limit */
  readonly maxRequestsPerSec?: number
  /**
   * Believe the endpoint which transactions a block with blobs has, where their root does not fit: anvil's does not. Every hash is still checked.
   * For a devnet only: such an endpoint can make this node derive anything.
   */
  readonly trustTransactions?: boolean
  /** seconds between slots, of a beacon API that does not say (HTTP 404) */
  readonly slotSec?: number
}

export const defaultL1Options = {
  timeoutMs: 20_000,
  maxBodyBytes: 64 * 1_048_576,
  readAheadBlocks: 8,
  cacheBytes: 128 * 1_048_576,
} as const

/** L1 with what there is to do at a start. */
export type HttpL1Source = L1Source &
  Disposable & {
    /**
     * Asks every endpoint at once whether it serves the rollup's L1. One that does not is left out; one that does not answer is asked when it is
     * used. An L1 that is down is no reason to fail.
     * @throws Fault L1_WRONG_CHAIN, L1_WRONG_BEACON (fatal) when no endpoint is left
     */
    preflight(signal: AbortSignal): Promise<void>
    /** Resolves when all that was read so far has reached the cache. */
    settled(): Promise<void>
  }

type Endpoints = { readonly failover: Failover; readonly budgetOf: (endpoint: Endpoint) => Budget }

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
  return { budgetOf, failover: createFailover({ ...deps, hasBudget: (endpoint) => budgetOf(endpoint).has(1) }, api, endpoints) }
}

/**
 * L1 over HTTP: JSON-RPC and beacon API. Everything is verified; every failure is a Fault. While L1 keeps pace with the clock it costs at most
 * four calls of JSON-RPC and one of the beacon API for each L1 block. Dispose it to end what it reads ahead.
 */
export function createL1Source(deps: L1SourceDeps, options: L1SourceOptions): HttpL1Source {
  const { log, cache, blobChecks: checks = checksInThisThread } = deps
  if (options.trustTransactions) log.warn('transactions of L1 blocks with blobs are taken on trust: for a devnet only')
  const usage = createUsage(deps)
  const execution = createEndpoints(deps, 'rpc', options.rpcUrls, options.maxRequestsPerSec)
  const rpc = createRpc({ ...deps, usage, budgetOf: execution.budgetOf }, options)
  const blocks = createL1Blocks({ rpc, failover: execution.failover, agreement: createAgreement(rpc, options) }, options)
  const consensus = createEndpoints(deps, 'beacon', options.beaconUrls, options.maxRequestsPerSec)
  const beacon = createBeacon({ ...deps, ...consensus, checks, usage }, options)
  // a beacon API that is told how long a slot is belongs to a devnet, where every block moves the labels
  const { slotSec } = options
  const heads = createHeads({ ...deps, blocks, usage }, slotSec === undefined ? {} : { labelEveryMs: slotSec * 1_000 })
  const kept = createKept({ log, checks, ...(cache && { cache }) })
  const source = createCachedL1({ blocks, beacon, heads, kept, metrics: deps.metrics }, options)
  return {
    ...source,
    settled: () => kept.settled(),
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
