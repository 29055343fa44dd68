import type { L1Source } from '#consensus/ports'
import type { L1Block } from '#derive/ports'
import type { CacheSource } from '#lib/caches'
import type { Clock } from '#lib/clock'
import { Lru } from '#lib/lru'
import type { L1Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Beacon } from './beacon.ts'
import type { L1Blocks } from './blocks.ts'
import { l1Fault } from './faults.ts'
import type { L1HeadView } from './heads.ts'
import type { L1Metrics } from './metrics.ts'
import { createReadAhead } from './readAhead.ts'
import type { Kept } from './storedL1.ts'
import { hasBlobs } from './verifyBlock.ts'

export type CachedL1Deps = {
  readonly blocks: Pick<L1Blocks, 'ref' | 'block'>
  readonly beacon: Pick<Beacon, 'blobs'>
  readonly heads: Pick<L1HeadView, 'head' | 'latest'>
  readonly kept: Kept
  readonly caches: CacheSource<'l1'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly metrics: Pick<L1Metrics, 'blocks'>
}

/** Age of a block below which its blobs cannot have expired: beacon nodes keep them for 18 days. When block and clock differ by more, missing blobs are not retried. */
const keptSec = 86_400

/** A block, and where it was read. */
type Sourced = { readonly block: L1Block; readonly from: 'endpoint' | 'cache' | 'disk' | 'read_ahead' }

/** Approximate size in memory, for the bound of the cache. */
function sizeOf(block: L1Block): number {
  let bytes = 2_000
  for (const raw of block.transactions) bytes += raw.length + 100
  for (const { logs } of block.receipts) for (const { data, topics } of logs) bytes += data.length + 200 * topics.length + 400
  return bytes + block.receipts.length * 500
}

/** Creates the L1 source with caches in memory and on disk, and with read-ahead. */
export function createCachedL1(
  deps: CachedL1Deps,
  options: { readonly readAheadBlocks: number; readonly trustTransactions?: boolean },
): L1Source & Disposable {
  const { blocks, beacon, heads, kept, caches, clock, metrics } = deps
  const byHash = caches.lru<Hash, L1Block>('l1', 0.5)
  /** requested block numbers, with the hash returned last */
  const hashAt = new Lru<number, Hash>(1_048_576)
  const blobs = caches.lru<Hash, Uint8Array>('l1', 0.5)
  let lastHanded: L1Ref | undefined

  function remember(block: L1Block): L1Block {
    byHash.set(block.ref.hash, block, sizeOf(block))
    hashAt.set(block.ref.number, block.ref.hash, 200)
    return block
  }

  async function fetchBlock(at: number | Hash, signal: AbortSignal): Promise<Sourced | undefined> {
    const block = await blocks.block(at, signal)
    if (block === undefined) return undefined
    // a block on disk is verified again when it is read, and a trusted block would fail
    if (!options.trustTransactions || !hasBlobs(block.transactions)) kept.keepBlock(block)
    return { block: remember(block), from: 'endpoint' }
  }

  function recall(hash: Hash): Sourced | undefined {
    const cached = byHash.get(hash)
    if (cached) return { block: cached, from: 'cache' }
    const block = kept.block(hash)
    return block && { block, from: 'disk' }
  }

  /**
   * Returns the block at a number. A cached block is returned if the number still has its hash, which costs one request for a header. The first
   * request for a number after a start skips that check: if L1 replaced the block, the next block does not fit, and the number is requested again.
   */
  async function blockOf(number: number, signal: AbortSignal): Promise<Sourced | undefined> {
    const handed = hashAt.get(number)
    const hash = handed ?? kept.hashAt(number)
    if (hash !== undefined && (handed === undefined || (await blocks.ref(number, signal))?.hash === hash)) {
      const known = recall(hash)
      if (known?.block.ref.number === number) {
        remember(known.block)
        return known
      }
    }
    return fetchBlock(number, signal)
  }

  const ahead = createReadAhead(async (number, signal) => (await blockOf(number, signal))?.block)

  /** Counts a block that derivation gets. */
  function passed(found: Sourced | undefined): L1Block | undefined {
    if (found) metrics.blocks.inc({ from: found.from })
    return found?.block
  }

  /** Returns the block that was read ahead; undefined when there is none or reading ahead failed, so that the caller requests it. */
  async function taken(number: number, signal: AbortSignal): Promise<Sourced | undefined> {
    try {
      const block = await ahead.take(number, signal)
      return block && { block, from: 'read_ahead' }
    } catch {
      signal.throwIfAborted()
      return undefined
    }
  }

  async function blockAt(number: number, signal: AbortSignal): Promise<L1Block | undefined> {
    const found = (await taken(number, signal)) ?? (await blockOf(number, signal))
    const block = passed(found)
    if (block === undefined) return undefined
    const { ref } = block
    // reorg: blocks that were read ahead may belong to the old branch
    if (lastHanded?.number === number - 1 && lastHanded.hash !== ref.parentHash) ahead.clear()
    lastHanded = ref
    ahead.want(number + 1, Math.min(number + options.readAheadBlocks, heads.latest?.number ?? 0))
    return block
  }

  async function knownBlob(hash: Hash): Promise<Uint8Array | undefined> {
    const known = blobs.get(hash) ?? (await kept.blob(hash))
    if (known) blobs.set(hash, known, known.length)
    return known
  }

  /** @throws Fault BLOB_NOT_YET (retry) when the block is new and canonical: the beacon nodes have not imported its slot */
  async function missing(block: L1Ref, signal: AbortSignal): Promise<'missing'> {
    const ageSec = Math.floor(clock.nowMs() / 1_000) - block.timestamp
    const isNew = Math.abs(ageSec) < keptSec && (await blocks.ref(block.number, signal))?.hash === block.hash
    if (isNew) throw l1Fault('BLOB_NOT_YET', { block: block.number, ageSec })
    return 'missing'
  }

  async function blobsOf(block: L1Ref, hashes: readonly Hash[], signal: AbortSignal): Promise<readonly Uint8Array[] | 'missing'> {
    const all = new Map<Hash, Uint8Array>()
    for (const hash of new Set(hashes)) {
      const known = await knownBlob(hash)
      if (known) all.set(hash, known)
    }
    const wanted = hashes.filter((hash) => !all.has(hash))
    if (wanted.length > 0) {
      const found = await beacon.blobs(block, wanted, signal)
      if (found === undefined) return await missing(block, signal)
      for (const hash of new Set(wanted)) {
        const checked = found.get(hash)
        if (checked === undefined) continue
        all.set(hash, checked.blob)
        blobs.set(hash, checked.blob, checked.blob.length)
        kept.keepBlob(block.number, hash, checked)
      }
    }
    return hashes.flatMap((hash) => all.get(hash) ?? [])
  }

  return {
    head: (label, signal) => heads.head(label, signal),
    ref: (number, signal) => blocks.ref(number, signal),
    async block(at, signal): Promise<L1Block | undefined> {
      return typeof at === 'number' ? blockAt(at, signal) : passed(recall(at) ?? (await fetchBlock(at, signal)))
    },
    blobs: blobsOf,
    [Symbol.dispose]: () => ahead.clear(),
  }
}
