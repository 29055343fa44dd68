import type { EthContext, SocketContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { blockMethods } from './blocks/blocks.ts'
import { rawTransactionMethods } from './blocks/rawTransactions.ts'
import { getTransactionBySenderAndNonce } from './blocks/senderAndNonce.ts'
import { transactionMethods } from './blocks/transactions.ts'
import { call } from './calls/call.ts'
import { callMany } from './calls/callMany.ts'
import { createAccessList } from './calls/createAccessList.ts'
import { estimateGas } from './calls/estimateGas.ts'
import { simulateV1 } from './calls/simulateV1.ts'
import { capabilities } from './chain/capabilities.ts'
import { chainMethods } from './chain/chain.ts'
import { config } from './chain/config.ts'
import { legacyMethods } from './chain/legacy.ts'
import { feeHistory } from './fees/feeHistory.ts'
import { gasPriceMethods } from './fees/gasPrice.ts'
import { filterMethods } from './filters/filters.ts'
import { getLogs } from './logs/getLogs.ts'
import { accountMethods } from './state/accounts.ts'
import { stateMethods } from './state/state.ts'
import { sendRawTransaction } from './submit/sendRawTransaction.ts'
import { sendRawTransactionConditional } from './submit/sendRawTransactionConditional.ts'
import { sendRawTransactionSync } from './submit/sendRawTransactionSync.ts'
import { subscribe, unsubscribe } from './subscriptions/subscribe.ts'

/** `eth_*` of HTTP, in the order of the reference. */
export const ethMethods: readonly Method<EthContext>[] = [
  ...[...chainMethods, config, capabilities, ...legacyMethods],
  ...[...blockMethods, ...transactionMethods, getTransactionBySenderAndNonce, ...rawTransactionMethods],
  ...[...stateMethods, ...accountMethods, getLogs],
  ...[...gasPriceMethods, feeHistory],
  ...[call, callMany, createAccessList, estimateGas, simulateV1],
  ...filterMethods,
  ...[sendRawTransaction, sendRawTransactionSync, sendRawTransactionConditional],
]

/** `eth_*` that need a connection that stays open: subscriptions over WebSocket and the Unix socket. */
export const socketMethods: readonly Method<SocketContext>[] = [subscribe, unsubscribe]
