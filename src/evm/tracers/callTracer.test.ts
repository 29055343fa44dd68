import { describe, expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { alice, bob, carol, ended, frame, inner, innerEnd, slotNumber, traceOf, transaction, wordsOf } from '#test/harness/evm/traceScript'
import type { HaltReason } from '../ports.ts'
import type { Tracer } from '../traceEvents.ts'
import { createTracer } from '../tracing.ts'

describe('evm/tracers: callTracer', () => {
  const told = (config: unknown, tell: (tracer: Tracer) => void, given?: Parameters<typeof traceOf>[2]) =>
    traceOf(createTracer({ tracer: 'callTracer', tracerConfig: config }), tell, given)

  it('the first call has the gas limit of the transaction and the gas used of its receipt', () => {
    const result = told({}, (to) => {
      to.onEnter(frame({ gas: 79_000, value: 3n, input: wordsOf(1, 2) }))
      to.onLeave(ended({ gasUsed: 500, output: wordsOf(9) }))
    })
    expect(result).toEqual({
      ...{ type: 'CALL', from: alice, to: bob, value: '0x3', gas: '0x186a0', gasUsed: '0x5208' },
      ...{ input: '0x0102', output: '0x09' },
    })
  })

  it('a failed creation has no address; a successful one has its code as output', () => {
    const creation = (end: 'success' | 'out of gas'): unknown =>
      told({}, (to) => {
        to.onEnter(frame({ kind: 'CREATE', to: carol, input: wordsOf(0x60) }))
        to.onLeave(ended({ end, output: end === 'success' ? wordsOf(0xfe) : wordsOf() }))
      })
    expect(creation('success')).toMatchObject({ type: 'CREATE', to: carol, output: '0xfe' })
    expect(creation('out of gas')).toEqual({
      ...{ type: 'CREATE', from: alice, value: '0x0', gas: '0x186a0', gasUsed: '0x5208', input: '0x60', error: 'out of gas' },
    })
  })

  it.each<[HaltReason, number | undefined, string]>([
    ['out of gas', undefined, 'out of gas'],
    ['call depth', undefined, 'max call depth exceeded'],
    ['insufficient balance', undefined, 'insufficient balance for transfer'],
    ['address collision', undefined, 'contract address collision'],
    ['invalid opcode', 0xfe, 'invalid opcode: INVALID'],
    ['invalid opcode', 0x0c, 'invalid opcode: opcode 0xc not defined'],
    ['invalid opcode', undefined, 'invalid opcode'],
    ['invalid jump', undefined, 'invalid jump destination'],
    ['write protection', undefined, 'write protection'],
    ['invalid code', undefined, 'invalid code: must not begin with 0xef'],
    ['precompile failure', undefined, 'precompiled failed'],
  ])('reports a frame that halts by %s (%s)', (end, opcode, error) => {
    const result = told({}, (to) => {
      to.onEnter(frame())
      to.onEnter(inner({ value: 7n }))
      to.onLeave(innerEnd({ end, opcode, gasUsed: 30_000, output: wordsOf(1) }))
      to.onLeave(ended())
    })
    expect(result).toMatchObject({ calls: [{ type: 'CALL', error, gas: '0x7530', gasUsed: '0x7530', value: '0x7' }] })
    expect(JSON.stringify(result)).not.toContain('output')
  })

  it.each([
    ['0x', undefined],
    ['0x08c379a0', undefined],
    [`0x08c379a0${'20'.padStart(64, '0')}${'02'.padStart(64, '0')}${'6869'.padEnd(64, '0')}`, 'hi'],
    [`0x08c379a0${'ff'.repeat(32)}${'02'.padStart(64, '0')}`, undefined],
    [`0x08c379a0${'20'.padStart(64, '0')}${'ff'.repeat(32)}`, undefined],
    [`0x4e487b71${'11'.padStart(64, '0')}`, 'arithmetic underflow or overflow'],
    [`0x4e487b71${'99'.padStart(64, '0')}`, 'unknown panic code: 0x99'],
    ['0xdeadbeef', undefined],
  ])('decodes the reason of a revert with %.14s… as %s', (output, revertReason) => {
    const result = told({}, (to) => {
      to.onEnter(frame())
      to.onLeave(ended({ end: 'revert', output: fromHex(output) }))
    }) as Record<string, unknown>
    expect(result['error']).toBe('execution reverted')
    expect(result['revertReason']).toBe(revertReason)
    expect(result['output']).toBe(output === '0x' ? undefined : output)
  })

  it('a STATICCALL has no value, a DELEGATECALL the value of its caller, a SELFDESTRUCT the remaining balance', () => {
    const result = told({}, (to) => {
      to.onEnter(frame())
      to.onEnter(inner({ kind: 'STATICCALL', value: undefined, isPrecompile: true }))
      to.onLeave(innerEnd())
      to.onEnter(inner({ kind: 'DELEGATECALL', self: bob, value: 4n }))
      to.onEnter(frame({ kind: 'SELFDESTRUCT', depth: 2, from: bob, to: alice, gas: 0, value: 9n }))
      to.onLeave(ended({ depth: 2 }))
      to.onLeave(innerEnd())
      to.onLeave(ended())
    })
    expect(result).toMatchObject({
      calls: [
        { type: 'STATICCALL', to: carol },
        {
          type: 'DELEGATECALL',
          value: '0x4',
          calls: [{ type: 'SELFDESTRUCT', from: bob, to: alice, gas: '0x0', gasUsed: '0x0', value: '0x9' }],
        },
      ],
    })
    expect((result as { calls: readonly object[] }).calls[0]).not.toHaveProperty('value')
  })

  const logging = (to: Tracer, failing: 'inner' | 'none'): void => {
    const log = (n: number): void => to.onLog({ address: bob, topics: [slotNumber(n)], data: wordsOf(n) })
    to.onEnter(frame())
    log(1)
    to.onEnter(inner())
    log(2)
    to.onLeave(innerEnd({ end: failing === 'inner' ? 'revert' : 'success' }))
    log(3)
    to.onLeave(ended())
  }

  it('withLog: lists each log at its position, numbered in order, without logs of failed frames', () => {
    const log = (n: number, index: string, position: string) => ({
      address: bob,
      topics: [slotNumber(n)],
      data: `0x0${n}`,
      index,
      position,
    })
    expect(told({ withLog: true }, (to) => logging(to, 'none'))).toMatchObject({
      logs: [log(1, '0x0', '0x0'), log(3, '0x2', '0x1')],
      calls: [{ logs: [log(2, '0x1', '0x0')] }],
    })
    const failed = told({ withLog: true }, (to) => logging(to, 'inner')) as { logs: unknown; calls: readonly object[] }
    expect(failed.logs).toEqual([log(1, '0x0', '0x0'), log(3, '0x1', '0x1')])
    expect(failed.calls[0]).not.toHaveProperty('logs')
    expect(told({}, (to) => logging(to, 'none'))).not.toHaveProperty('logs')
  })

  it('onlyTopCall: returns the first call alone, with its own logs', () => {
    const result = told({ withLog: true, onlyTopCall: true }, (to) => logging(to, 'none')) as { logs: readonly unknown[] }
    expect(result).not.toHaveProperty('calls')
    expect(result.logs).toHaveLength(2)
  })

  it('a deposit that fails before it runs is one call with an error', () => {
    expect(told({}, () => undefined, { transaction: transaction({ value: 8n }), gasUsed: 100_000, succeeded: false })).toEqual({
      ...{ type: 'CALL', from: alice, to: bob, gas: '0x186a0', gasUsed: '0x186a0', input: '0x', value: '0x8' },
      error: 'failed deposit transaction',
    })
  })

  it('handles a thousand nested frames', () => {
    const result = told({}, (to) => {
      for (let depth = 0; depth <= 1_024; depth++) to.onEnter(frame({ depth }))
      for (let depth = 1_024; depth >= 0; depth--) to.onLeave(ended({ depth }))
    })
    expect(JSON.stringify(result).split('"type"')).toHaveLength(1_026)
  })
})
