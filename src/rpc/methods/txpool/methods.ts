import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { content, contentFrom, inspect, status } from './txpool.ts'

/** `txpool_*`: the transactions in the pool. */
export const txpoolMethods: readonly Method<EthContext>[] = [status, content, contentFrom, inspect]
