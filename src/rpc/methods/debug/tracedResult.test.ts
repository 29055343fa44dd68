import { describe, expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import type { TraceOutcome } from '../../tracePorts.ts'
import { inTurns, tracedResult } from './tracedResult.ts'
import { traceTransaction } from './traceTransaction.ts'

describe('rpc/methods/debug: what becomes of a trace', () => {
  it.each<[string, TraceOutcome | 'pruned', number]>([
    ['a state that is gone', 'pruned', 4444],
    ['a tracer that there is not', { kind: 'unsupported', reason: 'there is no tracer x' }, -32004],
    ['an option that makes no sense', { kind: 'bad-request', reason: 'invalid tracer config: x' }, -32602],
    ['a result that is too large', { kind: 'refused', reason: 'too large' }, -32000],
    ['time that is over', { kind: 'timeout', timeoutMs: 5_000 }, -32000],
    ['a call that cannot begin', { kind: 'not-run', outcome: { kind: 'refused', refusal: { kind: 'nonce-overflow' } } }, -32000],
  ])('%s is an error that says so', (_what, outcome, code) => {
    expect(() => tracedResult(outcome)).toThrow(expect.objectContaining({ code }))
  })

  it('work goes on turn by turn until it is done, and ends when nobody waits', async () => {
    let left = 3
    await inTurns({ isCancelled: false }, () => --left === 0)
    expect(left).toBe(0)
    await expect(inTurns({ isCancelled: true }, () => false)).rejects.toThrow('request timed out')
  })

  it('a transaction of the genesis block, and one that there is not', () => {
    const chain = fakeChain([[[]], [[]]])
    const trace = (hash: string) => () => traceTransaction.call(fakeContext(chain), [hash])
    expect(trace(chain.transactionHash(0, 0))).toThrow('genesis is not traceable')
    expect(trace(`0x${'11'.repeat(32)}`)).toThrow('transaction not found')
  })
})
