import { describe, expect, it } from 'vitest'
import { frame, inner, traceOf, wordsOf } from '#test/harness/evm/traceScript'
import { createTracer } from '../tracing.ts'

describe('evm/tracers: 4byteTracer', () => {
  it('counts selectors with their argument sizes; ignores precompiles, creations and shorter input', () => {
    const input = wordsOf(1, 2, 3, 4, 5)
    const result = traceOf(createTracer({ tracer: '4byteTracer' }), (to) => {
      to.onEnter(frame({ input }))
      for (const kind of ['CALLCODE', 'DELEGATECALL', 'STATICCALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'] as const)
        to.onEnter(inner({ kind, input }))
      to.onEnter(inner({ input, isPrecompile: true }))
      to.onEnter(inner({ input: wordsOf(1, 2, 3) }))
      to.onEnter(inner({ input: wordsOf(0, 2, 3, 4) }))
    })
    expect(result).toEqual({ '0x00020304-0': 1, '0x01020304-1': 4 })
  })
})
