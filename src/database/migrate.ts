import { setImmediate as nextTurn } from 'node:timers/promises'
import { readHead } from '#blockchain/chainStore'
import type { Clock } from '#lib/clock'
import { moveNodeChanges, unmovedBlocks } from '#state/moveNodeChanges'
import { openChainKv } from '#store/chainTables'
import type { Kv } from '#store/ports'
import { agreeOnSchema, chainSchema } from '#store/schema'
import { databaseFault } from './faults.ts'
import { chainDir, requireDatabase } from './openChain.ts'

export type MigrateDeps = {
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly signal: AbortSignal
  /** Blocks that this call has moved, and how many there are to move. */
  onProgress(blocks: number, ofBlocks: number): void
}

export type MigrateResult = {
  /** false: interrupted; the same command continues */
  readonly done: boolean
  readonly schema: number
  /** Names of the schema steps that this call ran. */
  readonly steps: readonly string[]
  /** Blocks whose node changes this call moved. */
  readonly movedBlocks: number
}

/** Duration of a transaction, in milliseconds. */
const stepMs = 50

/**
 * Brings the database of a stopped node to the newest schema, and rewrites rows that an earlier version wrote and that are still read. Each transaction
 * leaves a whole database: a node may start between two, and the next call continues.
 * @throws Fault DATABASE_MISSING, DATABASE_EMPTY, SCHEMA_NEWER, SCHEMA_TOO_OLD, SCHEMA_LOST, and those of `openChainKv` and `Kv.write`
 */
export async function migrateDatabase(deps: MigrateDeps, datadir: string): Promise<MigrateResult> {
  const path = requireDatabase(datadir)
  await using kv = openChainKv(chainDir(datadir))
  requireChain(kv, path)
  const steps = agreeOnSchema(kv, chainSchema)
  return { ...(await moveBlocks(deps, kv)), schema: chainSchema.version, steps }
}

function requireChain(kv: Kv, path: string): void {
  using reader = kv.snapshot()
  if (readHead(reader) === undefined) throw databaseFault('DATABASE_EMPTY', { path })
}

async function moveBlocks({ clock, signal, onProgress }: MigrateDeps, kv: Kv): Promise<Pick<MigrateResult, 'done' | 'movedBlocks'>> {
  const ofBlocks = blocksToMove(kv)
  for (let left = ofBlocks; left > 0; ) {
    if (signal.aborted) return { done: false, movedBlocks: ofBlocks - left }
    const untilMs = clock.elapsedMs() + stepMs
    kv.write((tx) => moveNodeChanges(tx, () => clock.elapsedMs() < untilMs))
    left = blocksToMove(kv)
    onProgress(ofBlocks - left, ofBlocks)
    await nextTurn()
  }
  return { done: true, movedBlocks: ofBlocks }
}

function blocksToMove(kv: Kv): number {
  using reader = kv.snapshot()
  return unmovedBlocks(reader)
}
