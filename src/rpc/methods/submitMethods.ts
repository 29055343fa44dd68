import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { sendRawTransaction } from './eth/sendRawTransaction.ts'
import { content, contentFrom, inspect, status } from './txpool/txpool.ts'

/** What takes transactions, tells of those that wait, and lets an operator remove some: `eth_sendRaw*`, `txpool_*`, `base_*`, `miner_*`. */
export const submitMethods: readonly Method<EthContext>[] = [sendRawTransaction, status, content, contentFrom, inspect]
