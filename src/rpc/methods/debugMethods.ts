import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { chainConfig, getBadBlocks } from './debug/chain.ts'
import { codeByHash, getRawBlock, getRawHeader, getRawReceipts, getRawTransaction, getRawTransactions } from './debug/raw.ts'
import { storageRangeAt } from './debug/storageRange.ts'
import { traceBlock, traceBlockByHash, traceBlockByNumber } from './debug/traceBlock.ts'
import { traceCall } from './debug/traceCall.ts'
import { traceCallMany } from './debug/traceCallMany.ts'
import { traceTransaction } from './debug/traceTransaction.ts'
import { executePayload, executionWitness, executionWitnessByBlockHash } from './debug/witness.ts'

/** `debug_*`: blocks as bytes, traces, witnesses. */
export const debugMethods: readonly Method<EthContext>[] = [
  getRawHeader,
  getRawBlock,
  getRawTransaction,
  getRawTransactions,
  getRawReceipts,
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceBlock,
  traceCall,
  traceCallMany,
  executionWitness,
  executionWitnessByBlockHash,
  executePayload,
  storageRangeAt,
  codeByHash,
  chainConfig,
  getBadBlocks,
]
