import { describe, expect, it } from 'vitest'
import { addressOf } from '#test/harness/evm/host'
import { alice, bob, carol, ended, frame, inner, innerEnd, slotNumber, traceOf, transaction, wordsOf } from '#test/harness/evm/traceScript'
import type { HaltReason } from '../ports.ts'
import type { Tracer } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'

describe('evm/tracers: flatCallTracer', () => {
  const place = { blockHash: slotNumber(1), blockNumber: 12, hash: slotNumber(2), index: 3 }
  const told = (config: unknown, tell: (tracer: Tracer) => void) =>
    traceOf(createTracer({ tracer: 'flatCallTracer', tracerConfig: config }), tell, { transaction: transaction(place) }) as readonly Record<
      string,
      unknown
    >[]
  const calling = (to: Tracer): void => {
    to.onEnter(frame({ value: 1n, input: wordsOf(5) }))
    to.onEnter(inner({ to: addressOf(2), kind: 'STATICCALL', value: undefined, isPrecompile: true }))
    to.onLeave(innerEnd())
    to.onEnter(inner({ kind: 'CREATE2', input: wordsOf(0x60) }))
    to.onEnter(frame({ kind: 'SELFDESTRUCT', depth: 2, from: carol, to: alice, gas: 0, value: 9n }))
    to.onLeave(ended({ depth: 2 }))
    to.onLeave(innerEnd({ output: wordsOf(0xfe) }))
    to.onEnter(inner())
    to.onLeave(innerEnd({ end: 'invalid jump', gasUsed: 30_000 }))
    to.onLeave(ended({ end: 'revert', output: wordsOf(6) }))
  }

  it('lists calls, creations and self-destructs in order, each with its trace address', () => {
    const common = { blockHash: slotNumber(1), blockNumber: 12, transactionHash: slotNumber(2), transactionPosition: 3 }
    expect(told({}, calling)).toEqual([
      {
        ...{ ...common, type: 'call', subtraces: 2, traceAddress: [], error: 'execution reverted' },
        action: { callType: 'call', from: alice, to: bob, gas: '0x186a0', input: '0x05', value: '0x1' },
        result: { gasUsed: '0x5208', output: '0x06' },
      },
      {
        ...{ ...common, type: 'create', subtraces: 1, traceAddress: [0] },
        action: { creationMethod: 'create2', from: bob, gas: '0x7530', init: '0x60', value: '0x0' },
        result: { address: carol, code: '0xfe', gasUsed: '0x3e8' },
      },
      {
        ...{ ...common, type: 'suicide', subtraces: 0, traceAddress: [0, 0] },
        action: { address: carol, balance: '0x9', refundAddress: alice },
      },
      {
        ...{ ...common, type: 'call', subtraces: 0, traceAddress: [1], error: 'invalid jump destination' },
        action: { callType: 'call', from: bob, to: carol, gas: '0x7530', input: '0x', value: '0x0' },
      },
    ])
  })

  it('includePrecompiles: also lists calls of precompiles', () => {
    const list = told({ includePrecompiles: true }, calling)
    expect(list.map(({ traceAddress }) => traceAddress)).toEqual([[], [0], [1], [1, 0], [2]])
    expect(list[1]).toMatchObject({ action: { callType: 'staticcall', to: addressOf(2), value: '0x0' } })
  })

  it("convertParityErrors: uses OpenEthereum's error texts where they exist", () => {
    expect(told({ convertParityErrors: true }, calling).map(({ error }) => error)).toEqual([
      ...['Reverted', undefined, undefined, 'Bad jump destination'],
    ])
    const halted = (end: HaltReason) =>
      told({ convertParityErrors: true }, (to) => {
        to.onEnter(frame())
        to.onLeave(ended({ end }))
      })[0]?.['error']
    expect((['out of gas', 'invalid opcode', 'stack underflow', 'precompile failure', 'call depth'] as const).map(halted)).toEqual([
      ...['Out of gas', 'Bad instruction', 'Stack underflow', 'Built-in failed', 'max call depth exceeded'],
    ])
  })

  it('a call outside a block has no hashes', () => {
    const [first] = traceOf(createTracer({ tracer: 'flatCallTracer' }), calling) as readonly object[]
    expect(first).toMatchObject({ blockHash: null, blockNumber: 7, transactionHash: null, transactionPosition: 0 })
  })
})
