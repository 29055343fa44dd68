import type { FeeRules } from '#block/execution/applyTransaction'
import { blobParamsAt, type EthereumSchedule } from './schedule.ts'

/** Maximum number of blobs in one transaction from Osaka on. @see EIP-7594 */
const maxTransactionBlobs = 6

/** Fee rules of Ethereum's own chain at a block time in seconds: the base fee is burnt, blobs are paid for, there are no other fees. */
export function createEthereumFees(schedule: EthereumSchedule, timestamp: number): FeeRules {
  const params = blobParamsAt(schedule, timestamp)
  const { osaka } = schedule.times
  const isOsaka = osaka !== undefined && timestamp >= osaka
  return {
    ...(params && { maxBlobs: isOsaka ? Math.min(maxTransactionBlobs, params.max) : params.max }),
    upfront: () => 0n,
    settle: (session, { beneficiary, tipPerGas, gasUsed }) => session.addBalance(beneficiary, tipPerGas * gasUsed),
  }
}
