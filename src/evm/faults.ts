import { defineFaults } from '#lib/fault'

export const evmFault = defineFaults({
  EVM_TOO_LARGE: {
    severity: 'fatal',
    says: () => 'a message needs more memory than the interpreter has',
    fix: 'give the call less gas: no block within the limits of its chain needs that much',
  },
  UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { tracer: string }) => `there is no tracer ${d.tracer}`,
    fix: 'take callTracer, prestateTracer, 4byteTracer, flatCallTracer, muxTracer, noopTracer, or none for struct logs; tracers in JavaScript are not run',
  },
  INVALID_TRACER_CONFIG: {
    severity: 'fatal',
    says: (d: { tracer: string; reason: string }) => `invalid tracer config: ${d.tracer}: ${d.reason}`,
    fix: 'see the documentation of the tracer for its options and their types',
  },
  TRACE_TOO_LARGE: {
    severity: 'fatal',
    says: (d: { tracer: string; maxBytes: number }) => `the result of ${d.tracer} is larger than ${d.maxBytes} bytes`,
    fix: 'ask for less: of struct logs "limit", "disableStack", "disableStorage", no "enableMemory"; "onlyTopCall" of callTracer, "disableCode" of prestateTracer',
  },
})
