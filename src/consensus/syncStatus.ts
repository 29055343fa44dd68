import { isActive } from '#chainspec/forks'
import { l2OutputRoot } from '#chainspec/l2OutputRoot'
import { l2RefOf } from '#chainspec/l2Ref'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { Engine } from '#engine/port'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { RollupStatus } from '#types/rollupStatus'
import type { SafeHeadEntry, SafeHeadStore } from './ports.ts'
import type { DriverStatus } from './status.ts'

export function syncStatusOf({ origin, l1, heads }: DriverStatus): RollupStatus {
  return {
    currentL1: origin,
    headL1: l1.latest,
    safeL1: l1.safe,
    finalizedL1: l1.finalized,
    unsafeL2: heads?.unsafe,
    safeL2: heads?.safe,
    finalizedL2: heads?.finalized,
  }
}

/**
 * Returns the result of `optimism_safeHeadAtL1Block`: the last L1 block up to this one that made any block safe, and the safe head after it. Records
 * whose labels are not set yet are skipped. undefined: there is no record that early.
 */
export function safeHeadAtL1Block(
  store: Pick<SafeHeadStore, 'atOrBelow' | 'before'>,
  status: DriverStatus,
  l1Number: number,
): SafeHeadEntry | undefined {
  let entry = store.atOrBelow(l1Number)
  while (entry && status.heads && entry.safe.number > status.heads.safe.number) entry = store.before(entry)
  return entry
}

/** Result of `optimism_outputAtBlock`, except the sync status. */
export type Output = {
  readonly outputRoot: Hash
  readonly block: L2Ref
  readonly stateRoot: Hash
  /** storage root of the L2ToL1MessagePasser after the block */
  readonly messagePasserStorageRoot: Hash
}

export type OutputDeps = {
  readonly config: RollupConfig
  readonly engine: Pick<Engine, 'payload'>
  /** Returns the storage root from the state after a block. Before Isthmus the header does not contain it. */
  readonly messagePasserStorageRoot: (block: BlockId) => Promise<Hash>
}

/** Returns the output of the canonical block at a number; undefined when there is none. @see specs protocol/proposals.md; isthmus/exec-engine.md */
export async function outputAtBlock(deps: OutputDeps, number: number): Promise<Output | undefined> {
  const { config, engine } = deps
  const payload = await engine.payload(number)
  if (payload === undefined) return undefined
  const block = l2RefOf(config, payload)
  const inHeader = isActive(config.schedule, 'isthmus', payload.timestamp) ? payload.withdrawalsRoot : undefined
  const messagePasserStorageRoot = inHeader ?? (await deps.messagePasserStorageRoot(block))
  const { stateRoot, blockHash: hash } = payload
  return { outputRoot: l2OutputRoot({ stateRoot, messagePasserStorageRoot, hash }), block, stateRoot, messagePasserStorageRoot }
}
