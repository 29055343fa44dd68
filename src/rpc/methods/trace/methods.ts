import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { blockMethods } from './blocks.ts'
import { callMethods } from './calls.ts'
import { traceFilterMethod } from './filter.ts'
import { opcodeGasMethods } from './opcodeGas.ts'
import { replayMethods } from './replay.ts'

/** `trace_*`: traces of calls in Parity's form. */
export const traceMethods: readonly Method<EthContext>[] = [
  ...blockMethods,
  traceFilterMethod,
  ...[...replayMethods, ...callMethods, ...opcodeGasMethods],
]
