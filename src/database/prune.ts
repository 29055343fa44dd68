import { setImmediate as nextTurn } from 'node:timers/promises'
import { publishedNumber, readHeads } from '#blockchain/chainStore'
import { blockBefore } from '#blockchain/pruning/retention'
import type { Clock } from '#lib/clock'
import { oldestState } from '#state/chainState'
import { firstChanges, pruneHistory } from '#state/pruneHistory'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import type { ChainDistance } from '#types/chainDistance'
import { databaseFault } from './faults.ts'
import { chainDir, requireDatabase } from './openChain.ts'

export type PruneDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly signal: AbortSignal
  /** Blocks whose history was removed by this call, and how many there are to remove. */
  onProgress(blocks: number, ofBlocks: number): void
}

/** Numbers of blocks. */
export type PruneResult = {
  /** false: interrupted; the same command continues */
  readonly done: boolean
  readonly oldestStateBefore: number
  readonly oldestState: number
  readonly finalized: number
  readonly head: number
  /** whether older states than asked for are kept, for reorgs: those from the finalized block on */
  readonly isHeldByFinalized: boolean
}

/** Duration of a transaction, in milliseconds. */
const stepMs = 20

/**
 * Removes the history of older states from the database of a stopped node: previous values and trie nodes. States from the finalized block on are kept.
 * Freed pages are used for new data; the file does not shrink.
 * @param kept before the head
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, and those of `openChainKv` and `Kv.write`
 */
export async function pruneDatabase(deps: PruneDeps, datadir: string, kept: ChainDistance): Promise<PruneResult> {
  const path = requireDatabase(datadir)
  await using kv = openChainKv(chainDir(datadir))
  agreeOnSchema(kv, chainSchema)
  const { wanted, ...plan } = planOf(kv, kept, path)
  const done = await removeHistory(deps, kv, Math.min(wanted, plan.finalized))
  using reader = kv.snapshot()
  return { done, ...plan, oldestState: oldestState(reader) }
}

type Plan = Omit<PruneResult, 'done' | 'oldestState'> & { readonly wanted: number }

function planOf(kv: Kv, kept: ChainDistance, path: string): Plan {
  using reader = kv.snapshot()
  const heads = readHeads(reader)
  if (heads === undefined) throw databaseFault('DATABASE_EMPTY', { path })
  const [head, finalized] = [publishedNumber(heads), heads.finalized.number]
  const wanted = blockBefore(reader, head, kept, oldestState(reader))
  return { wanted, head, finalized, oldestStateBefore: oldestState(reader), isHeldByFinalized: wanted > finalized }
}

/** Removes history in steps. @returns false when interrupted */
async function removeHistory({ clock, signal, onProgress }: PruneDeps, kv: Kv, oldest: number): Promise<boolean> {
  const first = oldestHistory(kv, oldest)
  const ofBlocks = Math.max(0, oldest - first)
  for (;;) {
    if (signal.aborted) return false
    const untilMs = clock.elapsedMs() + stepMs
    const isDone = kv.write((tx) => pruneHistory(tx, { values: oldest, nodes: oldest }, () => clock.elapsedMs() < untilMs))
    onProgress(Math.min(ofBlocks, Math.max(0, oldestHistory(kv, oldest) - first)), ofBlocks)
    if (isDone) return true
    await nextTurn()
  }
}

/** Returns the first block with previous values, at most `oldest`. */
function oldestHistory(kv: Kv, oldest: number): number {
  using reader = kv.snapshot()
  return Math.min(firstChanges(reader), oldest)
}
