import { evmFault } from './faults.ts'
import type { Tracer } from './traceEvents.ts'
import { type Budget, createBudget } from './tracers/budget.ts'
import { createCallTracer } from './tracers/callTracer.ts'
import { createFlatCallTracer } from './tracers/flatCallTracer.ts'
import { createFourByteTracer } from './tracers/fourByteTracer.ts'
import { createMuxTracer } from './tracers/muxTracer.ts'
import { createNoopTracer } from './tracers/noopTracer.ts'
import { createOpcodeGasTracer } from './tracers/opcodeGasTracer.ts'
import { createParityTracer } from './tracers/parityTracer.ts'
import { createPrestateTracer } from './tracers/prestateTracer.ts'
import { createStructLogTracer } from './tracers/structLogTracer.ts'
import { configsOf } from './tracers/tracerConfig.ts'

/** Parameters of a `debug_trace*` request: the fields of its last parameter that a tracer reads. */
export type TraceRequest = {
  /** Absent: struct logs, whose options are then fields of the request itself. */
  readonly tracer?: string
  readonly tracerConfig?: unknown
  readonly [option: string]: unknown
}

/** Approximate maximum size in bytes of the JSON result for one transaction. */
export const defaultMaxTraceBytes: number = 64 * 1024 * 1024

/** Maximum nesting of tracers that run tracers. */
const maxNested = 4

type Make = (config: unknown, budget: Budget, nested: number) => Tracer

const tracers: Readonly<Record<string, Make>> = {
  callTracer: createCallTracer,
  prestateTracer: createPrestateTracer,
  '4byteTracer': createFourByteTracer,
  flatCallTracer: createFlatCallTracer,
  muxTracer: (config, budget, nested) => {
    if (nested === maxNested) throw evmFault('INVALID_TRACER_CONFIG', { tracer: 'muxTracer', reason: 'nested too deeply' })
    return createMuxTracer(configsOf('muxTracer', config).map(([name, own]) => [name, makeNamed(name, own, budget, nested + 1)] as const))
  },
  noopTracer: createNoopTracer,
  parityTracer: createParityTracer,
  opcodeGasTracer: createOpcodeGasTracer,
}

/** Names that a request may give as `tracer`. */
export const tracerNames: readonly string[] = Object.keys(tracers)

function makeNamed(name: string, config: unknown, budget: Budget, nested: number): Tracer {
  const make = Object.hasOwn(tracers, name) ? tracers[name] : undefined
  if (make === undefined) throw evmFault('UNSUPPORTED', { tracer: name.length > 60 ? `${name.slice(0, 60)}…` : name })
  return make(config, budget, nested)
}

/**
 * Creates a tracer for one transaction.
 * @param maxBytes approximate limit of the JSON result; struct logs and deep calls can be very large
 * @throws Fault UNSUPPORTED for any other name, including JavaScript code; INVALID_TRACER_CONFIG. While it runs: TRACE_TOO_LARGE
 */
export function createTracer(request: TraceRequest, maxBytes: number = defaultMaxTraceBytes): Tracer {
  const name = request.tracer ?? ''
  const budget = createBudget(name === '' ? 'struct logs' : name, maxBytes)
  return name === '' ? createStructLogTracer(request, budget) : makeNamed(name, request.tracerConfig, budget, 0)
}
