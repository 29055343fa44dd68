import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { traceBlockCalls, traceGet, traceTransactionCalls } from './trace/blocks.ts'
import { rawTransaction, traceCallCalls, traceCallMany } from './trace/calls.ts'
import { traceFilterMethod } from './trace/filter.ts'
import { blockOpcodeGas, transactionOpcodeGas } from './trace/opcodeGas.ts'
import { replayBlockTransactions, replayTransaction } from './trace/replay.ts'

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
