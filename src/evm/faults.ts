import { defineFaults } from '#lib/fault'

export const evmFault = defineFaults({
  EVM_TOO_LARGE: {
    severity: 'fatal',
    says: () => 'a message needs more memory than the interpreter has',
    fix: 'reduce the gas of the call; no valid block needs that much memory',
  },
  UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { tracer: string }) => `unknown tracer ${d.tracer}`,
    fix: 'use callTracer, prestateTracer, 4byteTracer, flatCallTracer, muxTracer, noopTracer, or none for struct logs; JavaScript tracers are not supported',
  },
  INVALID_TRACER_CONFIG: {
    severity: 'fatal',
    says: (d: { tracer: string; reason: string }) => `invalid tracer config: ${d.tracer}: ${d.reason}`,
    fix: 'see the documentation of the tracer for its options and their types',
  },
  TRACE_TOO_LARGE: {
    severity: 'fatal',
    says: (d: { tracer: string; maxBytes: number }) => `the result of ${d.tracer} is larger than ${d.maxBytes} bytes`,
    fix: 'reduce the result: for struct logs set "limit", "disableStack" or "disableStorage" and omit "enableMemory"; for callTracer set "onlyTopCall"; for prestateTracer set "disableCode"',
  },
})
