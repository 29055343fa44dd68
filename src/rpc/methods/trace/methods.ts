import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { traceBlockCalls, traceGet, traceTransactionCalls } from './blocks.ts'
import { rawTransaction, traceCallCalls, traceCallMany } from './calls.ts'
import { traceFilterMethod } from './filter.ts'
import { blockOpcodeGas, transactionOpcodeGas } from './opcodeGas.ts'
import { replayBlockTransactions, replayTransaction } from './replay.ts'

/** `trace_*`: traces of calls in Parity's form. */
export const traceMethods: readonly Method<EthContext>[] = [
  traceBlockCalls,
  traceTransactionCalls,
  traceGet,
  traceFilterMethod,
  replayTransaction,
  replayBlockTransactions,
  traceCallCalls,
  traceCallMany,
  rawTransaction,
  transactionOpcodeGas,
  blockOpcodeGas,
]
