import { applyConfigUpdates } from '#chain/configUpdate'
import type { RollupConfig } from '#chain/rollupConfig'
import type { SystemConfig } from '#chain/systemConfig'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { L1Block, Step } from '../ports.ts'
import { type Epoch, epochOf } from '../rules/epoch.ts'
import { item, type Stage, wait } from '../stage.ts'

export type L1Traversal = Stage<L1Block> & {
  /** The L1 block being read. */
  readonly origin: L1Ref
  /** The same in full; undefined until it is there. */
  readonly epoch: Epoch | undefined
  /** In force at the origin: says whose transactions count. */
  readonly systemConfig: SystemConfig
  /** The number of the block that must come next; undefined while the present one is read. */
  readonly wanted: number | undefined
  /** The present block is read: on to the next. */
  advance(): void
  /** @returns why the block does not continue the chain, or undefined. @throws Fault MALFORMED_DEPOSIT (fatal) */
  accept(block: L1Block): string | undefined
}

/**
 * Walks along L1, one block at a time, and keeps the system config up to date.
 * @param start the first block to be read; `systemConfig` is in force after it
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
        const updates = applyConfigUpdates(systemConfig, config, { timestamp: block.ref.timestamp, receipts: next.configReceipts })
        for (const reason of updates.skipped) log.warn('config update skipped', { l1: block.ref.number, reason })
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
