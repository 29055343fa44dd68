import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { meterBlockByHash, meterBlockByNumber, meterBundle, meteredPriorityFeePerGas } from './meter.ts'
import { transactionStatus } from './transactionStatus.ts'

/** `base_*`: the status of a sent transaction, and the execution time of bundles and blocks. */
export const baseMethods: readonly Method<EthContext>[] = [
  transactionStatus,
  meterBundle,
  meterBlockByHash,
  meterBlockByNumber,
  meteredPriorityFeePerGas,
]
