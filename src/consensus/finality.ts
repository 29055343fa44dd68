import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Engine, Heads } from '#engine/port'
import type { L1Ref, L2Ref } from '#types/blockRef'
import type { L1Source, SafeHeadEntry, SafeHeadStore } from './ports.ts'

/**
 * Returns the record whose safe head the finalized L1 block finalizes; undefined when that does not advance the finalized head within the safe chain.
 * Pure except for the store.
 */
function finalityCandidate(store: Pick<SafeHeadStore, 'atOrBelow'>, heads: Heads, finalizedL1: L1Ref): SafeHeadEntry | undefined {
  const entry = store.atOrBelow(finalizedL1.number)
  if (entry === undefined || entry.safe.number <= heads.finalized.number || entry.safe.number > heads.safe.number) return undefined
  return entry
}

export type FinalityDeps = {
  readonly config: RollupConfig
  readonly engine: Pick<Engine, 'payload'>
  readonly l1: Pick<L1Source, 'ref'>
  readonly store: Pick<SafeHeadStore, 'atOrBelow'>
}

/**
 * Returns the L2 block that the finalized L1 block finalizes: the safe head recorded at the last L1 block at or below it, if that L1 block is
 * canonical by hash and the L2 block is in the safe chain. The result is above the finalized head and at most the safe head.
 * @throws Faults of L1
 * @see specs protocol/derivation.md, "Finalization Guarantees"
 */
export async function findFinalized(deps: FinalityDeps, heads: Heads, finalizedL1: L1Ref, signal: AbortSignal): Promise<L2Ref | undefined> {
  const entry = finalityCandidate(deps.store, heads, finalizedL1)
  if (entry === undefined) return undefined
  const l1 = entry.l1.number === finalizedL1.number ? finalizedL1 : await deps.l1.ref(entry.l1.number, signal)
  if (l1?.hash !== entry.l1.hash) return undefined
  const payload = await deps.engine.payload(entry.safe.number)
  return payload?.blockHash === entry.safe.hash ? l2RefOf(deps.config, payload) : undefined
}
