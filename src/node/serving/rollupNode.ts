import { messagePasser } from '#chainspec/addresses'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SafeHeadStore } from '#consensus/ports'
import type { DriverStatus } from '#consensus/status'
import { outputAtBlock, safeHeadAtL1Block, syncStatusOf } from '#consensus/syncStatus'
import type { Engine } from '#engine/port'
import type { OutputFacts, RollupNode } from '#rpc/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { TrustRecord } from '#types/trust'

export type RollupNodeDeps = {
  readonly config: RollupConfig
  readonly status: () => DriverStatus
  readonly trust: () => TrustRecord | undefined
  readonly engine: Pick<Engine, 'heads' | 'payload' | 'storageRoot'>
  readonly store: SafeHeadStore
  /** returns why the node is not ready */
  readonly problems: () => readonly string[]
}

export function createRollupNode({ config, status, trust, engine, store, problems }: RollupNodeDeps): RollupNode {
  async function messagePasserStorageRoot(block: BlockId): Promise<Hash> {
    const root = await engine.storageRoot(messagePasser, block)
    if (root === undefined) throw new RangeError(`the state after block ${block.number} is not retained`)
    return root
  }
  return {
    config,
    status: () => ({ ...syncStatusOf(status()), trust: trust() }),
    readiness: () => ({ problems: problems() }),
    async output(at): Promise<OutputFacts | undefined> {
      const { unsafe, safe, finalized } = await engine.heads()
      const number = typeof at === 'number' ? at : { latest: unsafe, safe, finalized }[at].number
      const output = await outputAtBlock({ config, engine, messagePasserStorageRoot }, number)
      return output && { ref: output.block, stateRoot: output.stateRoot, messagePasserStorageRoot: output.messagePasserStorageRoot }
    },
    safeHeadAtL1: (number) => safeHeadAtL1Block(store, status(), number),
  }
}
