import type { Heads } from '#engine/port'
import type { L2Ref } from '#types/blockRef'

/** Returns the heads with a block finalized: at most the safe head, never moved back; undefined when nothing changes. Pure. */
export function planFinalize(heads: Heads, wanted: L2Ref): Heads | undefined {
  const finalized = wanted.number > heads.safe.number ? heads.safe : wanted
  return finalized.number > heads.finalized.number ? { ...heads, finalized } : undefined
}
