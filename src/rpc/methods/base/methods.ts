import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { meterMethods } from './meter.ts'
import { transactionStatus } from './transactionStatus.ts'

/** `base_*`: the status of a sent transaction, and the execution time of bundles and blocks. */
export const baseMethods: readonly Method<EthContext>[] = [transactionStatus, ...meterMethods]
