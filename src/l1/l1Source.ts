import type { L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { Clock } from '#lib/clock'
import type { Fetch } from '#lib/jsonHttp'
import type { Log } from '#lib/log'
import { Lru } from '#lib/lru'
import type { Random } from '#lib/retry'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { type Beacon, createBeacon } from './beacon.ts'
import { createL1Blocks, type L1Blocks } from './blocks.ts'
import { endpointsOf } from './endpoint.ts'
import { createFailover } from './failover.ts'
import type { L1Metrics } from './metrics.ts'
import { createReadAhead } from './readAhead.ts'
import { createRpc } from './rpc.ts'

export type L1SourceDeps = {
  readonly fetch: Fetch
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: L1Metrics
}

export type L1SourceOptions = {
  /** best first, at least one */
  readonly rpcUrls: readonly string[]
  /** best first; may be empty where no blobs are read */
  readonly beaconUrls: readonly string[]
  readonly chainId: number
  readonly timeoutMs: number
  /** of one answer */
  readonly maxBodyBytes: number
  /** how many blocks are fetched before they are wanted */
  readonly readAheadBlocks: number
  /** of blocks and of blobs together */
  readonly cacheBytes: number
}

export const defaultL1Options = {
  timeoutMs: 20_000,
  maxBodyBytes: 64 * 1_048_576,
  readAheadBlocks: 8,
  cacheBytes: 128 * 1_048_576,
} as const

/** A rough size in memory: enough to bound a cache. */
function sizeOf(block: L1Block): number {
  let bytes = 2_000
  for (const raw of block.transactions) bytes += raw.length + 100
  for (const { logs } of block.receipts) for (const { data, topics } of logs) bytes += data.length + 200 * topics.length + 400
  return bytes + block.receipts.length * 500
}

/** The cache and the reading ahead around what fetches and verifies. */
function createCachedL1(
  deps: { readonly blocks: L1Blocks; readonly beacon: Beacon; readonly metrics: Pick<L1Metrics, 'readAhead'> },
  options: Pick<L1SourceOptions, 'readAheadBlocks' | 'cacheBytes'>,
): L1Source & Disposable {
  const { blocks, beacon, metrics } = deps
  const byHash = new Lru<Hash, L1Block>(options.cacheBytes / 2)
  const hashAt = new Lru<number, Hash>(1_048_576)
  const blobs = new Lru<Hash, Uint8Array>(options.cacheBytes / 2)
  let latest: number | undefined
  let lastHanded: L1Ref | undefined

  function keep(block: L1Block | undefined): L1Block | undefined {
    if (block === undefined) return undefined
    byHash.set(block.ref.hash, block, sizeOf(block))
    hashAt.set(block.ref.number, block.ref.hash, 200)
    return block
  }

  /** A block that was read before is the answer as long as its number still has its hash: that is a small question. */
  async function fetchAt(number: number, signal: AbortSignal): Promise<L1Block | undefined> {
    const cachedHash = hashAt.get(number)
    const cached = cachedHash && byHash.get(cachedHash)
    if (cached && (await blocks.ref(number, signal))?.hash === cached.ref.hash) {
      metrics.readAhead.inc({ from: 'cache' })
      return cached
    }
    const block = await blocks.block(number, signal)
    if (block) metrics.readAhead.inc({ from: 'endpoint' })
    return keep(block)
  }

  const ahead = createReadAhead((number, signal) => fetchAt(number, signal))

  /** Takes what was read ahead; a failure there is no reason not to ask. */
  async function taken(number: number, signal: AbortSignal): Promise<L1Block | undefined> {
    try {
      const block = await ahead.take(number, signal)
      if (block) metrics.readAhead.inc({ from: 'read_ahead' })
      return block
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }

  async function blockAt(number: number, signal: AbortSignal): Promise<L1Block | undefined> {
    const block = (await taken(number, signal)) ?? (await fetchAt(number, signal))
    if (block === undefined) return undefined
    const { ref } = block
    // another branch: what was read ahead may belong to the old one
    if (lastHanded?.number === number - 1 && lastHanded.hash !== ref.parentHash) ahead.clear()
    lastHanded = ref
    ahead.want(number + 1, Math.min(number + options.readAheadBlocks, latest ?? 0))
    return block
  }

  async function blobsOf(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<readonly Uint8Array[] | 'missing'> {
    const all = new Map<Hash, Uint8Array>()
    for (const hash of hashes) {
      const cached = blobs.get(hash)
      if (cached) all.set(hash, cached)
    }
    const wanted = hashes.filter((hash) => !all.has(hash))
    if (wanted.length > 0) {
      const found = await beacon.blobs(block, wanted, signal)
      if (found === undefined) return 'missing'
      for (const [hash, blob] of found) {
        all.set(hash, blob)
        blobs.set(hash, blob, blob.length)
      }
    }
    return hashes.flatMap((hash) => all.get(hash) ?? [])
  }

  return {
    async head(label, signal): Promise<L1Ref | undefined> {
      const ref = await blocks.head(label, signal)
      if (label === 'latest') latest = ref?.number
      return ref
    },
    ref: (number, signal) => blocks.ref(number, signal),
    async block(at, signal): Promise<L1Block | undefined> {
      if (typeof at === 'number') return blockAt(at, signal)
      return byHash.get(at) ?? keep(await blocks.block(at, signal))
    },
    blobs: blobsOf,
    [Symbol.dispose]: () => ahead.clear(),
  }
}

/** L1 over HTTP: JSON-RPC and beacon API. Everything is verified; every failure is a Fault. Dispose it to end what it reads ahead. */
export function createL1Source(deps: L1SourceDeps, options: L1SourceOptions): L1Source & Disposable {
  const rpcFailover = createFailover(deps, 'rpc', endpointsOf(options.rpcUrls))
  const blocks = createL1Blocks({ rpc: createRpc(deps, options), failover: rpcFailover }, options)
  const beaconFailover = createFailover(deps, 'beacon', endpointsOf(options.beaconUrls))
  const beacon = createBeacon({ ...deps, failover: beaconFailover }, options)
  return createCachedL1({ blocks, beacon, metrics: deps.metrics }, options)
}
