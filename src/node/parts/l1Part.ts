import type { Registry } from 'prom-client'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createL1Source, defaultL1Options, type HttpL1Source } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import type { Clock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { KzgThread } from '#lib/kzgThread'
import type { Log } from '#lib/log'
import type { Random } from '#lib/retry'
import type { Kv } from '#store/ports'
import { consensusTables } from '#store/tables'
import type { L1Options } from '../nodeOptions.ts'
import { createL1CacheTable } from '../storage/l1CacheTable.ts'

export type L1PartDeps = {
  /** the consensus store */
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly fetch: typeof fetch
  readonly log: Log
  readonly registry: Registry
  /** checks blobs for several nodes of one process; absent: each has a thread of its own, and ends it */
  readonly kzg?: KzgThread
}

/** of L1 blocks and blobs on disk: two days and more of an L1 whose blocks take 100 KB, compressed, with blobs */
const keptBytes = 1_073_741_824

/** The set-up of the thread costs two seconds of a processor: a start has more urgent things to do, and a short run none for it. */
const warmUpMs = 1_000

/** L1 with its cache in the consensus store, and a thread that checks blobs where there can be any. Close it before the store. */
export function openL1(
  deps: L1PartDeps,
  { config, l1 }: { readonly config: RollupConfig; readonly l1: L1Options },
): HttpL1Source & AsyncDisposable {
  const log = deps.log.child('l1')
  const cache = createL1CacheTable({ kv: deps.kv, clock: deps.clock, log }, { table: consensusTables.l1Cache.id, maxBytes: keptBytes })
  const { rpcUrls, beaconUrls, maxRequestsPerSec, trustTransactions, slotSec } = l1
  const own = deps.kzg === undefined && beaconUrls.length > 0 ? new KzgThread() : undefined
  const thread = deps.kzg ?? own
  // who shares one knows when it is needed
  const warmUp = own && deps.clock.after(warmUpMs, () => own.warmUp())
  const source = createL1Source(
    { ...deps, log, metrics: l1Metrics.register(deps.registry), cache, ...(thread && { blobChecks: thread }) },
    {
      ...defaultL1Options,
      rpcUrls,
      beaconUrls,
      chainId: config.l1ChainId,
      genesis: config.genesis.l1,
      ...(maxRequestsPerSec !== undefined && { maxRequestsPerSec }),
      ...(trustTransactions !== undefined && { trustTransactions }),
      ...(slotSec !== undefined && { slotSec }),
    },
  )
  return {
    ...source,
    async [Symbol.asyncDispose](): Promise<void> {
      warmUp?.[Symbol.dispose]()
      source[Symbol.dispose]()
      await source.settled()
      cache[Symbol.dispose]()
      await own?.[Symbol.asyncDispose]()
    },
  }
}

/**
 * Looks whether all endpoints serve the rollup's L1, beside derivation, which meets L1_WRONG_CHAIN by itself.
 * @throws Fault L1_WRONG_BEACON (fatal) when no beacon endpoint is left
 */
export async function checkL1(l1: Pick<HttpL1Source, 'preflight'>, signal: AbortSignal): Promise<void> {
  try {
    await l1.preflight(signal)
  } catch (error) {
    if (!signal.aborted && !isFault(error, 'L1_WRONG_CHAIN')) throw error
  }
}
