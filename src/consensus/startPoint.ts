import { isActive } from '#chainspec/forks'
import { l2RefOf, systemConfigOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { StartPoint } from '#derive/ports'
import { isCanonical } from '#engine/canonical'
import type { Engine, Heads } from '#engine/port'
import type { BlockId, L1Ref, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import { anchorUnsafe } from './anchorUnsafe.ts'
import { consensusFault } from './faults.ts'
import type { L1Source, SafeHeadEntry, SafeHeadStore } from './ports.ts'

export type StartDeps = {
  readonly config: RollupConfig
  readonly engine: Pick<Engine, 'payload'>
  readonly l1: Pick<L1Source, 'ref' | 'head'>
  readonly store: Pick<SafeHeadStore, 'last' | 'before' | 'atOrBelow'>
}

export type Start = {
  /** derivation is repeated from its safe head up to the settled head, then continues */
  readonly point: StartPoint
  /** safe head that is kept */
  readonly settled: L2Ref
  /** unsafe head that is kept: above the settled head as long as L1 does not contradict an origin */
  readonly unsafe: L2Ref
  /** L1 block from which the settled head was derived; without a usable record, the first L1 block to read */
  readonly derivedFrom: BlockId
  /** last valid record of the store; later ones are to be dropped */
  readonly entry: SafeHeadEntry | undefined
}

/** `finalized`: derivation is repeated from the finalized head, however far back that is; the safe head is kept. */
export type StartFrom = 'settled' | 'finalized'

/**
 * Finds the point from which derivation continues without changing valid safe blocks. The settled head is the last recorded safe head that the
 * execution half has and whose L1 block is still canonical, else the finalized head. Without any record (a lost store) it is the safe head minus a
 * sequencing window, never below the finalized head. Derivation is repeated from the safe head before that L1 block, because only this shows whether
 * a channel in it was flushed. Reading starts a channel timeout before the L1 origin, so that open channels are read completely.
 * Cost: one L1 header per replaced L1 block, O(log n) payloads and L1 headers for the unsafe chain.
 * @throws Fault L1_BEHIND, L1_MOVED, BLOCK_MISSING (retry), HEAD_LOST (reset), L1_CHAIN_MISMATCH (fatal), and those of L1
 * @see specs protocol/derivation.md, "Resetting the Pipeline"
 */
export async function findStart(deps: StartDeps, heads: Heads, signal: AbortSignal, from: StartFrom = 'settled'): Promise<Start> {
  const entry = await lastSoundEntry(deps, heads, signal)
  if (entry && entry.safe.number >= heads.finalized.number) {
    const settled = l2RefOf(deps.config, await payloadAt(deps, entry.safe.hash))
    const before = from === 'settled' ? await safeHeadBefore(deps, entry) : finalizedBase(deps, heads)
    const point = await pointAt(deps, before?.ref ?? settled, heads, signal)
    const accountedFor = before?.accountedFor
    const unsafe = await anchorUnsafe(deps, settled, heads.unsafe, signal)
    return { point: { ...point, ...(accountedFor !== undefined && { accountedFor }) }, settled, unsafe, derivedFrom: entry.l1, entry }
  }
  const head = deps.store.last() === undefined ? await unrecordedHead(deps, heads, signal) : heads.finalized
  const point = await pointAt(deps, head, heads, signal)
  const unsafe = await anchorUnsafe(deps, head, heads.unsafe, signal)
  return { point, settled: head, unsafe, derivedFrom: point.l1, entry }
}

async function pointAt(deps: StartDeps, ref: L2Ref, heads: Heads, signal: AbortSignal): Promise<StartPoint> {
  const origin = await canonicalOrigin(deps, ref, heads, signal)
  const l1 = await readFrom(deps, origin, signal)
  const safe = { ref, systemConfig: systemConfigOf(deps.config, await payloadAt(deps, ref.hash)) }
  return { l1, systemConfig: await systemConfigAt(deps, l1.number, ref), safe }
}

/** Safe head from which derivation is repeated, and the last L1 block whose batches are all judged for it. */
type Base = { readonly ref: L2Ref; readonly accountedFor?: number }

/** Returns the finalized head. If it has a record, all batches of the record's L1 block are judged for it. */
function finalizedBase({ store }: StartDeps, { finalized }: Heads): Base {
  let entry = store.last()
  while (entry && entry.safe.number > finalized.number) entry = store.before(entry)
  return { ref: finalized, ...(entry?.safe.hash === finalized.hash && { accountedFor: entry.l1.number }) }
}

/** Returns the recorded safe head before the L1 block of the record. */
async function safeHeadBefore({ config, engine, store }: StartDeps, entry: SafeHeadEntry): Promise<Base | undefined> {
  const before = store.atOrBelow(entry.l1.number - 1)
  const payload = before && (await engine.payload(before.safe.number))
  if (payload === undefined || payload.blockHash !== before?.safe.hash) return undefined
  return { ref: l2RefOf(config, payload), accountedFor: entry.l1.number - 1 }
}

/**
 * Returns the last valid record that is not below the finalized head, else the last one below it. When L1's head is below a record's L1 block and L1
 * agrees with the records before it, L1 may be behind, and the safe head is kept. Cost: two requests for all records above L1's head, one for each
 * replaced L1 block.
 */
async function lastSoundEntry(deps: StartDeps, heads: Heads, signal: AbortSignal): Promise<SafeHeadEntry | undefined> {
  let beyond: BlockId | undefined
  let entry = deps.store.last()
  let before: SafeHeadEntry | undefined
  for (; entry && entry.safe.number >= heads.finalized.number; entry = before) {
    before = deps.store.before(entry)
    if (!(await isCanonical(deps.engine, entry.safe))) continue
    const l1 = await deps.l1.ref(entry.l1.number, signal)
    if (l1 === undefined) {
      beyond ??= entry.l1
      const head = await deps.l1.head('latest', signal)
      if (head && head.number < entry.l1.number) before = deps.store.atOrBelow(head.number)
    } else if (l1.hash === entry.l1.hash) {
      break
    } else {
      beyond = undefined
    }
  }
  if (beyond) throw consensusFault('L1_BEHIND', { l1Block: beyond.number })
  return entry
}

async function payloadAt(deps: StartDeps, at: number | Hash): Promise<Payload> {
  const payload = await deps.engine.payload(at)
  if (payload === undefined) throw consensusFault('BLOCK_MISSING', { block: `${at}` })
  return payload
}

const refAt = async (deps: StartDeps, number: number): Promise<L2Ref> => l2RefOf(deps.config, await payloadAt(deps, number))

/**
 * Returns the block at a number. If the chain of the execution half begins above it, with a snapshot, the first block of that chain.
 * @param above a block of the chain
 * @throws Fault BLOCK_MISSING (retry) when the execution half has the genesis block
 */
async function refFrom(deps: StartDeps, number: number, above: number): Promise<L2Ref> {
  const payload = await deps.engine.payload(number)
  if (payload !== undefined) return l2RefOf(deps.config, payload)
  if ((await deps.engine.payload(deps.config.genesis.l2.number)) !== undefined)
    throw consensusFault('BLOCK_MISSING', { block: `${number}` })
  let [missing, first] = [number, above]
  while (first - missing > 1) {
    const middle = (missing + first) >>> 1
    if ((await deps.engine.payload(middle)) === undefined) missing = middle
    else first = middle
  }
  return await refAt(deps, first)
}

async function canonicalOrigin(deps: StartDeps, ref: L2Ref, heads: Heads, signal: AbortSignal): Promise<L1Ref> {
  const { number, hash } = ref.l1Origin
  const origin = await deps.l1.ref(number, signal)
  if (origin === undefined) throw consensusFault('L1_BEHIND', { l1Block: number })
  if (origin.hash === hash) return origin
  if (ref.hash !== heads.finalized.hash) throw consensusFault('L1_MOVED', { l1Block: number })
  throw consensusFault('L1_CHAIN_MISMATCH', { l2Block: ref.number, l1Block: number, expected: hash, found: origin.hash })
}

/**
 * Returns the L1 block one channel timeout before the origin, by the timeout in force there; never before the rollup's L1 genesis. Before Canyon, a
 * channel of which only the end is read blocks others until it times out. The distance is doubled there, so that this channel has timed out at the
 * origin.
 */
async function readFrom({ config, l1 }: StartDeps, origin: L1Ref, signal: AbortSignal): Promise<L1Ref> {
  const { schedule, channelTimeoutBlocks, channelTimeoutGraniteBlocks } = config
  const timeoutBlocks = isActive(schedule, 'granite', origin.timestamp) ? channelTimeoutGraniteBlocks : channelTimeoutBlocks
  const backBlocks = isActive(schedule, 'canyon', origin.timestamp) ? timeoutBlocks : 2 * timeoutBlocks
  const number = Math.max(config.genesis.l1.number, origin.number - backBlocks)
  if (number === origin.number) return origin
  const found = await l1.ref(number, signal)
  if (found === undefined) throw consensusFault('L1_MOVED', { l1Block: number })
  return found
}

/** Returns the system config at an L1 block, from the last L2 block with that origin. */
async function systemConfigAt(deps: StartDeps, l1Number: number, safe: L2Ref): Promise<StartPoint['systemConfig']> {
  const ref = await lastBlockOfOrigin(deps, l1Number, safe, deps.config.genesis.l2.number)
  return systemConfigOf(deps.config, await payloadAt(deps, ref.hash))
}

/**
 * Returns the safe head minus a sequencing window, whatever happened to the L1 blocks it was derived from; the finalized head when its origin was
 * replaced too.
 */
async function unrecordedHead(deps: StartDeps, { safe, finalized }: Heads, signal: AbortSignal): Promise<L2Ref> {
  const head = await lastBlockOfOrigin(deps, safe.l1Origin.number - deps.config.sequencingWindowBlocks, safe, finalized.number)
  const origin = await deps.l1.ref(head.l1Origin.number, signal)
  if (origin === undefined) throw consensusFault('L1_BEHIND', { l1Block: head.l1Origin.number })
  return origin.hash === head.l1Origin.hash ? head : finalized
}

/**
 * Returns the last block up to `from` whose L1 origin is at most `l1Number`; `lowest`, or the first block of the execution half, when there is none. Steps
 * back in doubled strides, then uses a binary search.
 */
async function lastBlockOfOrigin(deps: StartDeps, l1Number: number, from: L2Ref, lowest: number): Promise<L2Ref> {
  let above = from
  let below = from
  for (let stride = 1; below.l1Origin.number > l1Number && below.number > lowest; stride *= 2) {
    above = below
    const wanted = Math.max(lowest, below.number - stride)
    below = await refFrom(deps, wanted, below.number)
    if (below.number > wanted) break
  }
  while (above.number - below.number > 1) {
    const middle = await refAt(deps, (above.number + below.number) >>> 1)
    if (middle.l1Origin.number > l1Number) above = middle
    else below = middle
  }
  return below
}
