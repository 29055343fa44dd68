import { type ForkSchedule, isActive } from '#chainspec/forks'
import { depositsOnly } from '#derive/depositsOnly'
import type { DerivedAttributes } from '#derive/ports'
import type { Engine } from '#engine/port'
import type { Payload } from '#types/payload'
import { consensusFault } from '../faults.ts'

/**
 * Result of building derived attributes. `replaced`: the block has the deposits alone, and the channel must be flushed. `dropped`: a later batch may
 * contain the block.
 */
export type Derived =
  | { readonly kind: 'built'; readonly payload: Payload }
  | { readonly kind: 'replaced'; readonly payload: Payload; readonly reason: string }
  | { readonly kind: 'dropped'; readonly reason: string }

/**
 * Builds one derived block; no head moves. The time of the L1 block from which the batch was read decides which rule applies to an invalid batch.
 * @throws Fault DEPOSITS_INVALID (fatal) when a block with the deposits alone is invalid, and those of the engine
 * @see specs protocol/derivation.md, "Engine Queue"; protocol/holocene/derivation.md, "Engine Queue"
 */
export async function buildDerived(engine: Pick<Engine, 'build'>, schedule: ForkSchedule, item: DerivedAttributes): Promise<Derived> {
  const { parent, attributes, derivedFrom } = item
  const result = await engine.build(parent, attributes)
  if (result.kind === 'built') return result
  if (depositsOnly(attributes).transactions.length === attributes.transactions.length) throw depositsInvalid(item, result.reason)
  if (!isActive(schedule, 'holocene', derivedFrom.timestamp)) return { kind: 'dropped', reason: result.reason }
  const replacement = await engine.build(parent, depositsOnly(attributes))
  if (replacement.kind === 'invalid') throw depositsInvalid(item, replacement.reason)
  return { kind: 'replaced', payload: replacement.payload, reason: result.reason }
}

function depositsInvalid({ parent }: DerivedAttributes, reason: string): Error {
  return consensusFault('DEPOSITS_INVALID', { number: parent.number + 1, parent: parent.hash, reason })
}
