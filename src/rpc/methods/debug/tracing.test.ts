import { describe, expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { defaultEthLimits } from '../../context.ts'
import type { TraceOutcome } from '../../tracePorts.ts'
import { inTurns } from '../turns.ts'
import { traceTransaction } from './traceTransaction.ts'
import { TraceBound, tracedResult } from './tracing.ts'

describe('rpc/methods/debug/tracing', () => {
  it('rpc/methods/debug/tracing: the traces of one request end at the limit of the node (-32000)', async () => {
    const bound = new TraceBound({ ...fakeContext(fakeChain([[[]]])), limits: { ...defaultEthLimits, traceBytes: 10 } })
    await bound.count(10)
    await expect(bound.count(1)).rejects.toMatchObject({ code: -32000, message: 'the traces are larger than 10 bytes' })
  })

  it.each<[string, TraceOutcome | 'pruned', number]>([
    ['a pruned state', 'pruned', 4444],
    ['an unknown tracer', { kind: 'unsupported', reason: 'there is no tracer x' }, -32004],
    ['an invalid option', { kind: 'bad-request', reason: 'invalid tracer config: x' }, -32602],
    ['a result that is too large', { kind: 'refused', reason: 'too large' }, -32000],
    ['a time-out', { kind: 'timeout', timeoutMs: 5_000 }, -32000],
    ['a call that cannot start', { kind: 'not-run', outcome: { kind: 'refused', refusal: { kind: 'nonce-overflow' } } }, -32000],
  ])('reports %s as an error', (_what, outcome, code) => {
    expect(() => tracedResult(fakeContext(fakeChain([[[]]])), outcome)).toThrow(expect.objectContaining({ code }))
  })

  it('works in turns until finished, and stops when cancelled', async () => {
    let left = 3
    await inTurns({ isCancelled: false }, () => --left === 0)
    expect(left).toBe(0)
    await expect(inTurns({ isCancelled: true }, () => false)).rejects.toThrow('request timed out')
  })

  it('refuses a transaction of the genesis block, and an unknown one', () => {
    const chain = fakeChain([[[]], [[]]])
    const trace = (hash: string) => () => traceTransaction.call(fakeContext(chain), [hash])
    expect(trace(chain.transactionHash(0, 0))).toThrow('genesis is not traceable')
    expect(trace(`0x${'11'.repeat(32)}`)).toThrow('transaction not found')
  })
})
