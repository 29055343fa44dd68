import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { clearTxpool, dropSenderTransactions, dropTransaction } from './admin/dropTransactions.ts'
import { meterBlockByHash, meterBlockByNumber, meterBundle, meteredPriorityFeePerGas } from './base/meter.ts'
import { transactionStatus } from './base/transactionStatus.ts'
import { sendRawTransaction } from './eth/sendRawTransaction.ts'
import { sendRawTransactionConditional } from './eth/sendRawTransactionConditional.ts'
import { sendRawTransactionSync } from './eth/sendRawTransactionSync.ts'
import { setExtra, setGasLimit, setGasPrice, setMaxDASize } from './miner/blockLimits.ts'
import { content, contentFrom, inspect, status } from './txpool/txpool.ts'

/** What takes transactions, tells of those that wait, and lets an operator remove some: `eth_sendRaw*`, `txpool_*`, `base_*`, `miner_*`. */
export const submitMethods: readonly Method<EthContext>[] = [
  ...[sendRawTransaction, sendRawTransactionSync, sendRawTransactionConditional, transactionStatus],
  ...[meterBundle, meterBlockByHash, meterBlockByNumber, meteredPriorityFeePerGas],
  ...[status, content, contentFrom, inspect],
  ...[dropTransaction, dropSenderTransactions, clearTxpool],
  ...[setMaxDASize, setGasLimit, setExtra, setGasPrice],
]
