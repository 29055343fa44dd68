import type { EthContext, SocketContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import {
  getBlockByHash,
  getBlockByNumber,
  getBlockReceipts,
  getBlockTransactionCountByHash,
  getBlockTransactionCountByNumber,
} from './blocks/blocks.ts'
import { getHeaderByHash, getHeaderByNumber } from './blocks/headers.ts'
import {
  getRawTransactionByBlockHashAndIndex,
  getRawTransactionByBlockNumberAndIndex,
  getRawTransactionByHash,
} from './blocks/rawTransactions.ts'
import { getTransactionBySenderAndNonce } from './blocks/senderAndNonce.ts'
import {
  getTransactionByBlockHashAndIndex,
  getTransactionByBlockNumberAndIndex,
  getTransactionByHash,
  getTransactionReceipt,
} from './blocks/transactions.ts'
import {
  getUncleByBlockHashAndIndex,
  getUncleByBlockNumberAndIndex,
  getUncleCountByBlockHash,
  getUncleCountByBlockNumber,
} from './blocks/uncles.ts'
import { call } from './calls/call.ts'
import { callMany } from './calls/callMany.ts'
import { createAccessList } from './calls/createAccessList.ts'
import { estimateGas } from './calls/estimateGas.ts'
import { simulateV1 } from './calls/simulateV1.ts'
import { capabilities } from './chain/capabilities.ts'
import { accounts, blockNumber, chainId, syncing } from './chain/chain.ts'
import { config } from './chain/config.ts'
import { coinbase, hashrate, mining, protocolVersion } from './chain/legacy.ts'
import { feeHistory } from './fees/feeHistory.ts'
import { baseFee, blobBaseFee, gasPrice, maxPriorityFeePerGas } from './fees/gasPrice.ts'
import {
  getFilterChanges,
  getFilterLogs,
  newBlockFilter,
  newFilter,
  newPendingTransactionFilter,
  uninstallFilter,
} from './filters/filters.ts'
import { getLogs } from './logs/getLogs.ts'
import { getAccount, getAccountInfo, getStorageValues } from './state/accounts.ts'
import { getBalance, getCode, getProof, getStorageAt, getTransactionCount } from './state/state.ts'
import { sendRawTransaction } from './submit/sendRawTransaction.ts'
import { sendRawTransactionConditional } from './submit/sendRawTransactionConditional.ts'
import { sendRawTransactionSync } from './submit/sendRawTransactionSync.ts'
import { subscribe, unsubscribe } from './subscriptions/subscribe.ts'

/** `eth_*` of HTTP, in the order of the reference. */
export const ethMethods: readonly Method<EthContext>[] = [
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
  call,
  callMany,
  createAccessList,
  estimateGas,
  simulateV1,
  newFilter,
  newBlockFilter,
  newPendingTransactionFilter,
  getFilterChanges,
  getFilterLogs,
  uninstallFilter,
  sendRawTransaction,
  sendRawTransactionSync,
  sendRawTransactionConditional,
]

/** `eth_*` that need a connection that stays open: subscriptions over WebSocket and the Unix socket. */
export const socketMethods: readonly Method<SocketContext>[] = [subscribe, unsubscribe]
