import type { Engine, Heads } from '#engine/port'

/**
 * The heads of an engine in their order, which one that was rolled back or repaired by hand may have lost: a finalized block above the safe
 * head is safe when it is canonical; labels above the unsafe head come down to it. The same object when nothing is wrong.
 * @throws Faults of the engine
 */
export async function soundHeads(engine: Pick<Engine, 'payload'>, heads: Heads): Promise<Heads> {
  const { unsafe, finalized } = heads
  if (finalized.number <= heads.safe.number && heads.safe.number <= unsafe.number) return heads
  const safe = heads.safe.number <= unsafe.number ? heads.safe : unsafe
  if (finalized.number <= safe.number) return { unsafe, safe, finalized }
  const isCanonical = finalized.number <= unsafe.number && (await engine.payload(finalized.number))?.blockHash === finalized.hash
  return isCanonical ? { unsafe, safe: finalized, finalized } : { unsafe, safe, finalized: safe }
}
