import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { getAccount, getAccountInfo, getStorageValues } from './eth/accounts.ts'
import {
  getBlockByHash,
  getBlockByNumber,
  getBlockReceipts,
  getBlockTransactionCountByHash,
  getBlockTransactionCountByNumber,
} from './eth/blocks.ts'
import { capabilities } from './eth/capabilities.ts'
import { accounts, blockNumber, chainId, syncing } from './eth/chain.ts'
import { config } from './eth/config.ts'
import { feeHistory } from './eth/feeHistory.ts'
import { baseFee, blobBaseFee, gasPrice, maxPriorityFeePerGas } from './eth/gasPrice.ts'
import { getLogs } from './eth/getLogs.ts'
import { getHeaderByHash, getHeaderByNumber } from './eth/headers.ts'
import { coinbase, hashrate, mining, protocolVersion } from './eth/legacy.ts'
import {
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByHash,
} from './eth/rawTransactions.ts'
import { getTransactionBySenderAndNonce } from './eth/senderAndNonce.ts'
import { getBalance, getCode, getProof, getStorageAt, getTransactionCount } from './eth/state.ts'
import {
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionByHash,
  getTransactionReceipt,
} from './eth/transactions.ts'
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from './eth/uncles.ts'

/** `eth_*` that read blocks, transactions, receipts, logs, state and fees. */
export const ethReadMethods: readonly Method<EthContext>[] = [
  chainId,
  blockNumber,
  syncing,
  accounts,
  config,
  capabilities,
  protocolVersion,
  coinbase,
  mining,
  hashrate,
  getHeaderByNumber,
  getHeaderByHash,
  getBlockByNumber,
  getBlockByHash,
  getBlockReceipts,
  getTransactionByHash,
  getTransactionReceipt,
  getBlockTransactionCountByNumber,
  getBlockTransactionCountByHash,
  getTransactionByBlockNumberAndIndex,
  getTransactionByBlockHashAndIndex,
  getTransactionBySenderAndNonce,
  getRawTransactionByHash,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByBlockHashAndIndex,
  getUncleCountByBlockNumber,
  getUncleCountByBlockHash,
  getUncleByBlockNumberAndIndex,
  getUncleByBlockHashAndIndex,
  getBalance,
  getTransactionCount,
  getCode,
  getStorageAt,
  getStorageValues,
  getAccount,
  getAccountInfo,
  getProof,
  getLogs,
  gasPrice,
  baseFee,
  maxPriorityFeePerGas,
  blobBaseFee,
  feeHistory,
]
