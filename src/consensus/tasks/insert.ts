import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { isCanonical } from '#engine/canonical'
import type { Engine, Heads } from '#engine/port'
import { isFault } from '#lib/fault'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { L1Trail } from '../l1Trail.ts'

/** Point at which offered payloads leave the canonical chain: `from` counts the canonical ones, `fork` is the last canonical block. */
export type InsertPlan =
  | { readonly kind: 'insert'; readonly from: number; readonly fork: number }
  | { readonly kind: 'known' }
  | { readonly kind: 'gap'; readonly missing: BlockId }
  | { readonly kind: 'refused'; readonly reason: string }

/** Maximum length of a known branch that is not canonical: more than two hours of blocks at 200 ms. */
const maxBranchBlocks = 5 * 8_192

const parentOf = ({ parentHash, blockNumber }: Payload): BlockId => ({ hash: parentHash, number: blockNumber - 1 })

/**
 * Plans the insert of offered payloads, without any change. Cost: no call when they follow the unsafe head; else O(log n) payloads, or one per block
 * of the known branch below them.
 * @param floor number of the highest block that must stay canonical
 * @throws Faults of the engine
 */
export async function planInsert(
  engine: Pick<Engine, 'payload'>,
  heads: Heads,
  floor: number,
  payloads: readonly Payload[],
): Promise<InsertPlan> {
  const [first] = payloads
  if (first === undefined) return { kind: 'known' }
  const broken = payloads.findIndex((payload, at) => at > 0 && !follows(payload, payloads[at - 1] as Payload))
  if (broken > 0) return { kind: 'refused', reason: `payload ${broken} does not follow the payload before it` }
  if (first.parentHash === heads.unsafe.hash) return { kind: 'insert', from: 0, fork: heads.unsafe.number }
  const from = await countCanonical(engine, heads.unsafe.number, payloads)
  if (from === payloads.length) return { kind: 'known' }
  if (from === 0) return await planBranch(engine, floor, parentOf(first))
  const fork = first.blockNumber + from - 1
  return fork < floor ? tooLow(fork, floor) : { kind: 'insert', from, fork }
}

const follows = (payload: Payload, before: Payload): boolean =>
  payload.parentHash === before.blockHash && payload.blockNumber === before.blockNumber + 1

const tooLow = (fork: number, floor: number): InsertPlan => ({
  kind: 'refused',
  reason: `the branch forks at block ${fork}, below block ${floor}, which must stay canonical`,
})

/** Returns how many of the payloads, from the first on, are canonical. They are linked, so a binary search finds it. */
async function countCanonical(engine: Pick<Engine, 'payload'>, head: number, payloads: readonly Payload[]): Promise<number> {
  let low = 0
  let high = payloads.findIndex(({ blockNumber }) => blockNumber > head)
  if (high < 0) high = payloads.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const { blockHash: hash, blockNumber: number } = payloads[middle] as Payload
    if (await isCanonical(engine, { hash, number })) low = middle + 1
    else high = middle
  }
  return low
}

/** Follows known blocks from a parent down to the canonical chain. */
async function planBranch(engine: Pick<Engine, 'payload'>, floor: number, parent: BlockId): Promise<InsertPlan> {
  let at = parent
  for (let steps = 0; steps < maxBranchBlocks; steps++) {
    if (at.number < floor) return tooLow(at.number, floor)
    if (await isCanonical(engine, at)) return { kind: 'insert', from: 0, fork: at.number }
    const block = await engine.payload(at.hash)
    if (block === undefined) return { kind: 'gap', missing: at }
    if (block.blockNumber !== at.number) return { kind: 'refused', reason: `block ${at.hash} does not have number ${at.number}` }
    at = parentOf(block)
  }
  return { kind: 'refused', reason: `the branch forks more than ${maxBranchBlocks} blocks below` }
}

const replacedOrigin = ({ number, l1Origin }: L2Ref): string => `block ${number} has L1 origin ${l1Origin.number}, which L1 has replaced`

/**
 * Result of inserting payloads. `last`: the last valid block; undefined when none was new. `missing`: the execution half does not know the parent.
 */
export type InsertRun =
  | { readonly kind: 'done'; readonly last: L2Ref }
  | { readonly kind: 'invalid'; readonly payload: Payload; readonly reason: string; readonly last: L2Ref | undefined }
  | { readonly kind: 'gap'; readonly missing: BlockId; readonly last: L2Ref | undefined }
  | { readonly kind: 'refused'; readonly reason: string; readonly last: L2Ref | undefined }

export type InsertRunDeps = {
  readonly engine: Pick<Engine, 'insert'>
  readonly config: RollupConfig
  /** returns the reason why a block, or its parent, was refused before */
  readonly refusalOf: (hash: Hash) => string | undefined
  readonly trail: Pick<L1Trail, 'contradicts'>
}

/**
 * Executes linked payloads, oldest first, until one is invalid. No label moves.
 * @throws the signal's reason; Faults of the engine except UNKNOWN_PARENT and BLOCK_NOT_EXECUTED
 */
export async function runInsert(
  { engine, config, refusalOf, trail }: InsertRunDeps,
  payloads: readonly Payload[],
  signal: AbortSignal,
): Promise<InsertRun> {
  let last: L2Ref | undefined
  for (const payload of payloads) {
    signal.throwIfAborted()
    const known = refusalOf(payload.blockHash) ?? refusalOf(payload.parentHash)
    if (known !== undefined) return { kind: 'invalid', payload, reason: known, last }
    try {
      const ref = l2RefOf(config, payload)
      if (trail.contradicts(ref.l1Origin)) return { kind: 'refused', reason: replacedOrigin(ref), last }
      const result = await engine.insert(payload)
      if (result.kind === 'invalid') return { kind: 'invalid', payload, reason: result.reason, last }
      last = ref
    } catch (error) {
      if (isFault(error, 'MALFORMED_L1_ATTRIBUTES')) return { kind: 'invalid', payload, reason: error.message, last }
      if (isFault(error, 'BLOCK_NOT_EXECUTED')) return { kind: 'refused', reason: error.message, last }
      if (isFault(error, 'UNKNOWN_PARENT')) return { kind: 'gap', missing: parentOf(payload), last }
      throw error
    }
  }
  if (last === undefined) throw new RangeError('no payload to insert')
  return { kind: 'done', last }
}
