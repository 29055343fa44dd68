import { userDeposits } from '#chainspec/deposits'
import type { RollupConfig } from '#chainspec/rollupConfig'
import type { L1Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Receipt } from '#types/receipt'
import type { L1Block } from '../ports.ts'

/** L1 block reduced to the parts that the L2 blocks of its epoch need. */
export type Epoch = L1Ref & {
  readonly header: Header
  /** EIP-2718 bytes */
  readonly deposits: readonly Uint8Array[]
  /** only the logs of the system config contract */
  readonly configReceipts: readonly Receipt[]
}

/** Returns the epoch of an L1 block. @throws Fault MALFORMED_DEPOSIT (fatal) */
export function epochOf(config: RollupConfig, { ref, header, receipts }: L1Block): Epoch {
  const configReceipts = receipts.flatMap((receipt) => {
    const logs = receipt.logs.filter(({ address }) => address === config.l1SystemConfig)
    return logs.length === 0 ? [] : [{ ...receipt, logs }]
  })
  return { ...ref, header, deposits: userDeposits(config.depositContract, ref.hash, receipts), configReceipts }
}
