import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { chainConfig, getBadBlocks } from './chain.ts'
import { codeByHash, getRawBlock, getRawHeader, getRawReceipts, getRawTransaction, getRawTransactions } from './raw.ts'
import { storageRangeAt } from './storageRange.ts'
import { traceBlock, traceBlockByHash, traceBlockByNumber } from './traceBlock.ts'
import { traceCall } from './traceCall.ts'
import { traceCallMany } from './traceCallMany.ts'
import { traceTransaction } from './traceTransaction.ts'
import { executePayload, executionWitness, executionWitnessByBlockHash } from './witness.ts'

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
