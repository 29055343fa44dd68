import type { Engine, Heads } from '#engine/port'
import type { L2Ref } from '#types/blockRef'

type Reader = Pick<Engine, 'payload'>

const isIn = async (engine: Reader, unsafe: L2Ref, block: L2Ref): Promise<boolean> =>
  block.number <= unsafe.number && (await engine.payload(block.number))?.blockHash === block.hash

/**
 * The heads of an engine in their order, which one that was restarted, rolled back or repaired by hand may have lost: what is known to be final
 * stays final while it is canonical; a finalized block above the safe head is safe when it is canonical; labels above the unsafe head come down
 * to it. The same object when nothing is wrong.
 * @param known the finalized head before; undefined: none is known
 * @throws Faults of the engine
 */
export async function soundHeads(engine: Reader, heads: Heads, known: L2Ref | undefined): Promise<Heads> {
  const { unsafe } = heads
  const isForgotten = known !== undefined && known.number > heads.finalized.number && (await isIn(engine, unsafe, known))
  const finalized = isForgotten ? known : heads.finalized
  const safe = heads.safe.number <= unsafe.number ? heads.safe : unsafe
  if (finalized === heads.finalized && safe === heads.safe && finalized.number <= safe.number) return heads
  if (finalized.number <= safe.number) return { unsafe, safe, finalized }
  return (await isIn(engine, unsafe, finalized)) ? { unsafe, safe: finalized, finalized } : { unsafe, safe, finalized: safe }
}
