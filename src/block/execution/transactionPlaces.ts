import type { Hash } from '#types/ids'
import type { ExecutedBlock } from './executedBlock.ts'

type InMemory = Pick<ExecutedBlock, 'executed'>

/** Cache: each lookup of a transaction searches every block in memory. */
const places = new WeakMap<InMemory, ReadonlyMap<Hash, number>>()

/** Returns the indices of a block's transactions by hash. */
export function placesIn(block: InMemory): ReadonlyMap<Hash, number> {
  const known = places.get(block)
  if (known) return known
  const made = new Map(block.executed.map(({ hash }, index) => [hash, index]))
  places.set(block, made)
  return made
}
