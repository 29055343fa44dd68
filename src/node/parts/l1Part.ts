import { blobScheduleOf } from '#chainspec/blobFee'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { createL1Source, defaultL1Options, type HttpL1Source } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { isFault } from '#lib/fault'
import { KzgThread } from '#lib/kzg/kzgThread'
import type { Kv } from '#store/ports'
import { consensusTables } from '#store/tables'
import type { NodeMemory } from '../memory/nodeMemory.ts'
import type { NodeDeps, PartDeps } from '../nodeDeps.ts'
import type { L1Options } from '../nodeOptions.ts'
import { L1CacheTable } from '../storage/l1CacheTable.ts'

/** `kv`: the consensus store */
export type L1PartDeps = PartDeps & Pick<NodeDeps, 'kzg'> & { readonly kv: Kv; readonly memory: Pick<NodeMemory, 'caches'> }

/** maximum bytes of L1 blocks and blobs on disk: a day and a half when each L1 block takes 100 KB with its blobs, compressed */
const keptBytes = 1_073_741_824

/** Delay of the thread's set-up, which takes two seconds of a processor: a start has more urgent work, and a short run does not need it. */
const warmUpMs = 1_000

/** Opens L1 with its cache in the consensus store, and a thread that checks blobs if a beacon API is set. Close it before the store. */
export function openL1(
  deps: L1PartDeps,
  { config, l1 }: { readonly config: RollupConfig; readonly l1: L1Options },
): HttpL1Source & AsyncDisposable {
  const log = deps.log.child('l1')
  const cache = new L1CacheTable({ kv: deps.kv, clock: deps.clock, log }, { table: consensusTables.l1Cache.id, maxBytes: keptBytes })
  const { rpcUrls, beaconUrls, maxRequestsPerSec, trustTransactions, slotSec } = l1
  const blobSchedule = blobScheduleOf(config)
  const own = deps.kzg === undefined && beaconUrls.length > 0 ? new KzgThread() : undefined
  const thread = deps.kzg ?? own
  // the owner of a shared thread warms it up
  const warmUp = own && deps.clock.after(warmUpMs, () => own.warmUp())
  const source = createL1Source(
    { ...deps, log, metrics: l1Metrics.register(deps.registry), cache, caches: deps.memory.caches, ...(thread && { blobChecks: thread }) },
    {
      ...defaultL1Options,
      rpcUrls,
      beaconUrls,
      chainId: config.l1ChainId,
      genesis: config.genesis.l1,
      ...(maxRequestsPerSec !== undefined && { maxRequestsPerSec }),
      ...(trustTransactions !== undefined && { trustTransactions }),
      ...(slotSec !== undefined && { slotSec }),
      ...(blobSchedule && { blobSchedule }),
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
 * Checks that all endpoints serve the rollup's L1, in parallel with derivation, which reports L1_WRONG_CHAIN itself.
 * @throws Fault L1_WRONG_BEACON (fatal) when no beacon endpoint is left
 */
export async function checkL1(l1: Pick<HttpL1Source, 'preflight'>, signal: AbortSignal): Promise<void> {
  try {
    await l1.preflight(signal)
  } catch (error) {
    if (!signal.aborted && !isFault(error, 'L1_WRONG_CHAIN')) throw error
  }
}
