import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'

/** `debug_*`: blocks as bytes, traces, witnesses. */
export const debugMethods: readonly Method<EthContext>[] = []
