import { isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { depositsOnly } from '#derive/depositsOnly'
import type { DerivedAttributes } from '#derive/ports'
import { isCanonical } from '#engine/canonical'
import type { Engine, Heads } from '#engine/port'
import type { L2Ref } from '#types/blockRef'
import type { Payload } from '#types/payload'
import type { Derived } from './build.ts'
import { type Difference, firstDifference } from './difference.ts'

/** Result of the comparison. `absent`: no canonical block follows the parent. `differs`: the canonical block differs from L1. */
export type Consolidation =
  | { readonly kind: 'same'; readonly payload: Payload }
  | { readonly kind: 'absent' }
  | { readonly kind: 'differs'; readonly payload: Payload; readonly difference: Difference }

type Reader = Pick<Engine, 'payload'>

/**
 * Compares derived attributes with the unsafe block at their number, without execution.
 * @throws Faults of the engine
 * @see specs protocol/derivation.md, "L1-consolidation: payload attributes matching"
 */
export async function consolidateDerived(engine: Reader, config: RollupConfig, item: DerivedAttributes): Promise<Consolidation> {
  const payload = await engine.payload(item.parent.number + 1)
  if (payload?.parentHash !== item.parent.hash) return { kind: 'absent' }
  const difference = firstDifference(config.eip1559, payload, item.attributes)
  return difference ? { kind: 'differs', payload, difference } : { kind: 'same', payload }
}

/**
 * Returns the earlier result of derived attributes, from the safe block at their number and without building, for derivation that is repeated after a
 * start. The L1 attributes among the transactions tie the block to its origin.
 */
export async function recallDerived(engine: Reader, config: RollupConfig, item: DerivedAttributes): Promise<Derived> {
  const found = await consolidateDerived(engine, config, item)
  if (found.kind === 'same') return { kind: 'built', payload: found.payload }
  const isHolocene = isActive(config.schedule, 'holocene', item.derivedFrom.timestamp)
  if (found.kind === 'differs' && isHolocene && !firstDifference(config.eip1559, found.payload, depositsOnly(item.attributes))) {
    return { kind: 'replaced', payload: found.payload, reason: 'replaced earlier' }
  }
  return { kind: 'dropped', reason: 'another block is safe' }
}

/**
 * Returns the heads with a derived block as safe head. An unsafe chain that contains it is kept, another one is dropped. The block must be above the
 * safe head and build on it.
 * @throws Faults of the engine
 */
export async function planSafe(engine: Reader, heads: Heads, safe: L2Ref): Promise<Heads> {
  const isAhead = heads.unsafe.number > safe.number
  const stays = isAhead && (await isCanonical(engine, safe))
  return { unsafe: stays ? heads.unsafe : safe, safe, finalized: heads.finalized }
}
