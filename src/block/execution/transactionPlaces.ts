import type { Hash } from '#types/ids'
import type { ExecutedBlock } from './executedBlock.ts'

type InMemory = Pick<ExecutedBlock, 'executed'>

/** Looked up for each of the blocks by each question for a transaction. */
const places = new WeakMap<InMemory, ReadonlyMap<Hash, number>>()

/** Where the transactions of a block in memory stand. */
export function placesIn(block: InMemory): ReadonlyMap<Hash, number> {
  const known = places.get(block)
  if (known) return known
  const made = new Map(block.executed.map(({ hash }, index) => [hash, index]))
  places.set(block, made)
  return made
}
