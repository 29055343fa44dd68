import { applyConfigUpdates } from '#chain/configUpdate'
import { userDeposits } from '#chain/deposits'
import type { RollupConfig } from '#chain/rollupConfig'
import type { SystemConfig } from '#chain/systemConfig'
import type { Log } from '#lib/log'
import type { L1Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Receipt } from '#types/receipt'
import type { L1Block, Step } from '../ports.ts'
import { item, type Stage, wait } from '../stage.ts'

/** What later stages need of an L1 block once its transactions are read. */
export type L1Epoch = L1Ref & {
  readonly header: Header
  /** EIP-2718 bytes */
  readonly deposits: readonly Uint8Array[]
  /** only the events of the system config contract */
  readonly configReceipts: readonly Receipt[]
}

export type L1Traversal = Stage<L1Block> & {
  /** The L1 block being read. */
  readonly origin: L1Ref
  /** The same in full; undefined until it is there. */
  readonly epoch: L1Epoch | undefined
  /** In force at the origin: says whose transactions count. */
  readonly systemConfig: SystemConfig
  /** The number of the block that must come next; undefined while the present one is read. */
  readonly wanted: number | undefined
  /** The present block is read: on to the next. */
  advance(): void
  /** @returns why the block does not continue the chain, or undefined. @throws Fault MALFORMED_DEPOSIT (fatal) */
  accept(block: L1Block): string | undefined
}

function configReceiptsOf({ l1SystemConfig }: RollupConfig, receipts: readonly Receipt[]): readonly Receipt[] {
  return receipts.flatMap((receipt) => {
    const logs = receipt.logs.filter(({ address }) => address === l1SystemConfig)
    return logs.length === 0 ? [] : [{ ...receipt, logs }]
  })
}

/**
 * Walks along L1, one block at a time, and keeps the system config up to date.
 * @param start the first block to be read; `systemConfig` is in force after it
 * @see specs protocol/derivation.md, "L1 Traversal"
 */
export function createL1Traversal(config: RollupConfig, start: { l1: L1Ref; systemConfig: SystemConfig }, log: Log): L1Traversal {
  let origin = start.l1
  let systemConfig = start.systemConfig
  let epoch: L1Epoch | undefined
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
    get epoch(): L1Epoch | undefined {
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
      const configReceipts = configReceiptsOf(config, block.receipts)
      if (epoch !== undefined) {
        const updates = applyConfigUpdates(systemConfig, config, { timestamp: block.ref.timestamp, receipts: configReceipts })
        for (const reason of updates.skipped) log.warn('config update skipped', { l1: block.ref.number, reason })
        systemConfig = updates.systemConfig
      }
      const deposits = userDeposits(config.depositContract, block.ref.hash, block.receipts)
      origin = block.ref
      epoch = { ...block.ref, header: block.header, deposits, configReceipts }
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
