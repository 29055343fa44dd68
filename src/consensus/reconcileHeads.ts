import { isCanonical } from '#engine/canonical'
import type { Engine, Heads } from '#engine/port'
import type { L2Ref } from '#types/blockRef'

type Reader = Pick<Engine, 'payload'>

const isIn = async (engine: Reader, unsafe: L2Ref, block: L2Ref): Promise<boolean> =>
  block.number <= unsafe.number && (await isCanonical(engine, block))

/**
 * Returns the heads in a valid order. An engine that was restarted, rolled back or repaired by hand may have lost it. A known finalized head stays
 * finalized while it is canonical; a canonical finalized block above the safe head becomes safe; labels above the unsafe head are lowered to it.
 * Returns the same object when the order is valid.
 * @param known the previous finalized head; undefined: unknown
 * @throws Faults of the engine
 */
export async function reconcileHeads(engine: Reader, heads: Heads, known: L2Ref | undefined): Promise<Heads> {
  const { unsafe } = heads
  const isForgotten = known !== undefined && known.number > heads.finalized.number && (await isIn(engine, unsafe, known))
  const finalized = isForgotten ? known : heads.finalized
  const safe = heads.safe.number <= unsafe.number ? heads.safe : unsafe
  if (finalized === heads.finalized && safe === heads.safe && finalized.number <= safe.number) return heads
  if (finalized.number <= safe.number) return { unsafe, safe, finalized }
  return (await isIn(engine, unsafe, finalized)) ? { unsafe, safe: finalized, finalized } : { unsafe, safe, finalized: safe }
}
