import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import {
  getBlockByHash,
  getBlockByNumber,
  getBlockReceipts,
  getBlockTransactionCountByHash,
  getBlockTransactionCountByNumber,
} from './eth/blocks.ts'
import { accounts, blockNumber, chainId, syncing } from './eth/chain.ts'
import { config } from './eth/config.ts'
import { feeHistory } from './eth/feeHistory.ts'
import { blobBaseFee, gasPrice, maxPriorityFeePerGas } from './eth/gasPrice.ts'
import { getLogs } from './eth/getLogs.ts'
import { getBalance, getCode, getProof, getStorageAt, getTransactionCount } from './eth/state.ts'
import {
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionByHash,
  getTransactionReceipt,
} from './eth/transactions.ts'

/** `eth_*` that read blocks, transactions, receipts, logs, state and fees. */
export const ethReadMethods: readonly Method<EthContext>[] = [
  chainId,
  blockNumber,
  syncing,
  accounts,
  config,
  getBlockByNumber,
  getBlockByHash,
  getBlockReceipts,
  getTransactionByHash,
  getTransactionReceipt,
  getBlockTransactionCountByNumber,
  getBlockTransactionCountByHash,
  getTransactionByBlockNumberAndIndex,
  getTransactionByBlockHashAndIndex,
  getBalance,
  getTransactionCount,
  getCode,
  getStorageAt,
  getProof,
  getLogs,
  gasPrice,
  maxPriorityFeePerGas,
  blobBaseFee,
  feeHistory,
]
