import { describe, expect, it } from 'vitest'
import { bob, ended, frame, inner, stateOf, step, traceOf, transaction } from '#test/harness/evm/traceScript'
import type { Tracer } from './traceEvents.ts'
import { createTracer, tracerNames } from './tracing.ts'

describe('evm/tracing: available tracers', () => {
  it.each([...tracerNames, undefined])('%s declares its needs and has a result for a plain transfer', (name) => {
    const tracer = createTracer(name === undefined ? {} : { tracer: name })
    const result = traceOf(tracer, (to) => {
      to.onEnter(frame({ value: 5n }))
      to.onLeave(ended())
    })
    expect(result).not.toBeNull()
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  })

  it.each(['{fault: function() {}}', 'callTracer2', 'toString', 'x'.repeat(10_000)])('%.20s is not a tracer (UNSUPPORTED)', (tracer) => {
    expect(() => createTracer({ tracer })).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }))
    expect(() => createTracer({ tracer: 'muxTracer', tracerConfig: { [tracer]: {} } })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    )
  })

  it.each([
    ['callTracer', 7],
    ['callTracer', []],
    ['callTracer', { onlyTopCall: 'yes' }],
    ['prestateTracer', { diffMode: 1 }],
    ['flatCallTracer', { convertParityErrors: {} }],
    ['muxTracer', 'callTracer'],
    ['muxTracer', { callTracer: { withLog: 0 } }],
  ])('rejects %s with %j (INVALID_TRACER_CONFIG)', (tracer, tracerConfig) => {
    expect(() => createTracer({ tracer, tracerConfig })).toThrow(expect.objectContaining({ code: 'INVALID_TRACER_CONFIG' }))
  })

  it.each([{ limit: -1 }, { limit: '5' }, { limit: 1.5 }, { enableMemory: 'on' }])(
    'rejects struct logs with %j (INVALID_TRACER_CONFIG)',
    (request) => {
      expect(() => createTracer(request)).toThrow(expect.objectContaining({ code: 'INVALID_TRACER_CONFIG' }))
    },
  )

  it('limits the nesting of tracers that run tracers (INVALID_TRACER_CONFIG)', () => {
    let tracerConfig: unknown = { noopTracer: {} }
    for (let i = 0; i < 5_000; i++) tracerConfig = { muxTracer: tracerConfig }
    expect(() => createTracer({ tracer: 'muxTracer', tracerConfig })).toThrow(expect.objectContaining({ code: 'INVALID_TRACER_CONFIG' }))
  })

  it('ignores null and unknown options', () => {
    const { needs } = createTracer({ tracer: 'callTracer' })
    expect(createTracer({ tracer: 'callTracer', tracerConfig: null }).needs).toEqual(needs)
    expect(createTracer({ tracer: 'callTracer', tracerConfig: { later: 1 } }).needs).toEqual(needs)
  })
})

describe('evm/tracing: the size of a result is limited (TRACE_TOO_LARGE)', () => {
  const tooLarge = expect.objectContaining({ code: 'TRACE_TOO_LARGE' })
  const maxBytes = 50_000
  /** Sends the same event until the budget is exceeded. */
  const fill = (request: Record<string, unknown>, tell: (tracer: Tracer, i: number) => void): number => {
    const tracer = createTracer(request, maxBytes)
    tracer.begin(transaction())
    tracer.onEnter(frame())
    let told = 0
    expect(() => {
      for (; told < 10_000; told++) tell(tracer, told)
    }).toThrow(tooLarge)
    return told
  }

  it.each<[string, Record<string, unknown>, (tracer: Tracer, i: number) => void]>([
    ['steps', { disableStack: true }, (to) => to.onStep(step({ op: 0x5b }))],
    ['stacks', {}, (to) => to.onStep(step({ op: 0x5b, words: Array<bigint>(200).fill(2n ** 255n) }))],
    ['memory', { enableMemory: true }, (to) => to.onStep(step({ op: 0x5b, memory: new Uint8Array(9_600) }))],
    ['return data', { enableReturnData: true }, (to) => to.onStep(step({ op: 0x5b, returned: new Uint8Array(9_600) }))],
    ['storage', { disableStack: true }, (to, i) => to.onStep(step({ op: 0x55, words: [1n, BigInt(i)] }))],
    ['inputs', { tracer: 'callTracer' }, (to) => to.onEnter(inner({ input: new Uint8Array(9_600) }))],
    [
      'logs',
      { tracer: 'callTracer', tracerConfig: { withLog: true } },
      (to) => to.onLog({ address: bob, topics: [], data: new Uint8Array(900) }),
    ],
    ['places', { tracer: 'flatCallTracer' }, (to, i) => to.onEnter(inner({ depth: i + 1 }))],
    ['slots', { tracer: 'prestateTracer' }, (to, i) => to.onStep(step({ op: 0x54, words: [BigInt(i)] }))],
    ['accounts', { tracer: 'prestateTracer' }, (to, i) => to.onStep(step({ op: 0x31, words: [BigInt(i)] }))],
    ['several tracers', { tracer: 'muxTracer', tracerConfig: { callTracer: {}, flatCallTracer: {} } }, (to) => to.onEnter(inner())],
  ])('%s', (_what, request, tell) => {
    expect(fill(request, tell)).toBeGreaterThan(0)
  })

  it('codes', () => {
    const tracer = createTracer({ tracer: 'prestateTracer' }, maxBytes)
    const state = stateOf({ [bob]: { code: new Uint8Array(maxBytes / 2) } })
    expect(() => traceOf(tracer, (to) => to.onEnter(frame()), { before: state, after: state })).toThrow(tooLarge)
  })
})
