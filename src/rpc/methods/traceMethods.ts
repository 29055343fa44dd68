import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'

/** `trace_*`: traces of calls in Parity's form. */
export const traceMethods: readonly Method<EthContext>[] = []
