import { verifyBlobGas } from '#chainspec/blobFee'
import { applyConfigUpdates } from '#chainspec/configUpdate'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { SystemConfig } from '#chainspec/systemConfig'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { L1Block, Step } from '../ports.ts'
import { type Epoch, epochOf } from '../rules/epoch.ts'
import { item, type Stage, wait } from '../stage.ts'

export type L1Traversal = Stage<L1Block> & {
  /** L1 block being read. */
  readonly origin: L1Ref
  /** Epoch of that block; undefined until the first block is accepted. */
  readonly epoch: Epoch | undefined
  /** System config in force at the origin. Its batcher address selects the batcher transactions. */
  readonly systemConfig: SystemConfig
  /** Number of the L1 block to read next; undefined while the current block is read. */
  readonly wanted: number | undefined
  /** Ends the current block and wants the next one. */
  advance(): void
  /**
   * Accepts the wanted block.
   * @returns the reason why the block does not continue the chain, or undefined
   * @throws Fault MALFORMED_DEPOSIT, L1_BLOB_SCHEDULE (fatal)
   */
  accept(block: L1Block): string | undefined
}

/**
 * Creates the stage that reads L1 block by block and applies updates to the system config.
 * @param start the first block to read; `systemConfig` is in force after it
 * @see specs protocol/derivation.md, "L1 Traversal"
 */
export function createL1Traversal(config: RollupConfig, start: { l1: L1Ref; systemConfig: SystemConfig }, log: Log): L1Traversal {
  let origin = start.l1
  let systemConfig = start.systemConfig
  let epoch: Epoch | undefined
  let unread: L1Block | undefined
  let wanted: number | undefined = origin.number

  const refuse = ({ ref }: L1Block): string | undefined => {
    if (epoch === undefined) return ref.hash === origin.hash ? undefined : `L1 block ${ref.number} is ${ref.hash}, not ${origin.hash}`
    return ref.parentHash === origin.hash ? undefined : `L1 block ${ref.number} does not follow ${origin.hash}`
  }

  return {
    get origin(): L1Ref {
      return origin
    },
    get epoch(): Epoch | undefined {
      return epoch
    },
    get systemConfig(): SystemConfig {
      return systemConfig
    },
    get wanted(): number | undefined {
      return wanted
    },
    advance(): void {
      wanted = origin.number + 1
    },
    accept(block: L1Block): string | undefined {
      const refusal = refuse(block)
      if (refusal !== undefined) return refusal
      const next = epochOf(config, block)
      if (epoch !== undefined) {
        if (config.schedule.ecotone !== undefined) verifyBlobGas(config, epoch.header, block)
        const updates = applyConfigUpdates(systemConfig, config, { timestamp: block.ref.timestamp, receipts: next.configReceipts })
        for (const reason of updates.skipped) log.warn('system config update skipped', { l1: block.ref.number, reason })
        systemConfig = updates.systemConfig
      }
      origin = block.ref
      epoch = next
      unread = block
      wanted = undefined
      return undefined
    },
    next(): Step<L1Block> {
      if (unread === undefined) return wait
      const block = unread
      unread = undefined
      return item(block)
    },
  }
}
