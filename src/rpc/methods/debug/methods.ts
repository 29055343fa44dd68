import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { chainMethods } from './chain.ts'
import { proofsMethods } from './proofs.ts'
import { rawMethods } from './raw.ts'
import { storageRangeAt } from './storageRange.ts'
import { traceBlockMethods } from './traceBlock.ts'
import { traceCall } from './traceCall.ts'
import { traceCallMany } from './traceCallMany.ts'
import { traceTransaction } from './traceTransaction.ts'
import { witnessMethods } from './witness.ts'

/** `debug_*`: blocks as bytes, traces, witnesses. */
export const debugMethods: readonly Method<EthContext>[] = [
  ...rawMethods,
  ...[traceTransaction, ...traceBlockMethods, traceCall, traceCallMany],
  ...[...witnessMethods, ...proofsMethods, storageRangeAt, ...chainMethods],
]
