import { describe, expect, it } from 'vitest'
import { compareOutcome, dialectOf, type Exchange, firstDifference, type Outcome, parseExchanges, skipReason } from './exchanges.ts'
import type { Json } from './json.ts'

const recorded = `// tip above cap
>> {"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}
<< {"jsonrpc":"2.0","id":1,"result":"0x1"}

//
>> {"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x1234"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":"invalid string length at line 1 column 8"}}
`
const [chainId, balance] = parseExchanges(recorded) as [Exchange, Exchange]
const exchange = (method: string, params: readonly Json[], outcome: Outcome): Exchange => ({ note: '', method, params, outcome })
const isEqual = (asked: Exchange, found: Outcome, dialect: 'reth' | 'op-geth' = 'reth') =>
  compareOutcome(asked, found, dialect, 100) === undefined

describe('harness/rpc/exchanges', () => {
  it('parses notes, requests, results and errors', () => {
    expect(chainId).toEqual({ note: 'tip above cap', method: 'eth_chainId', params: [], outcome: { result: '0x1' } })
    expect(balance.outcome).toMatchObject({ error: { code: -32602 } })
  })

  it('reports a wrong value, a missing and an extra member, an error in place of a result and the reverse', () => {
    expect(isEqual(chainId, { result: '0x1' })).toBe(true)
    expect(isEqual(chainId, { result: '0x2' })).toBe(false)
    expect(isEqual(chainId, { error: { code: -32602, message: 'Invalid params' } })).toBe(false)
    expect(isEqual(balance, { result: null })).toBe(false)
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toEqual({ path: '.a.1.b', expected: 2, found: 3 })
    expect(firstDifference({ a: 1 }, {})).toMatchObject({ path: '.a' })
    expect(firstDifference({}, { a: null })).toMatchObject({ path: '.a' })
    expect(firstDifference([], {})).toEqual({ path: '', expected: [], found: {} })
    expect(firstDifference({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeUndefined()
  })

  it('compares code, message and data of an error', () => {
    const error = { code: -32602, message: 'Invalid params', data: 'invalid string length at line 1 column 8' }
    expect(isEqual(balance, { error })).toBe(true)
    expect(isEqual(balance, { error: { ...error, code: -32603 } })).toBe(false)
    expect(isEqual(balance, { error: { ...error, data: 'invalid string length at line 1 column 9' } })).toBe(false)
    expect(isEqual(balance, { error: { code: error.code, message: error.message } })).toBe(false)
  })

  it("translates each of op-geth's errors into one error only", () => {
    const missing = exchange('eth_getBalance', ['0x1', '0xff'], { error: { code: -32000, message: 'header not found' } })
    expect(isEqual(missing, { error: { code: -32001, message: 'block not found: 0xff' } }, 'op-geth')).toBe(true)
    expect(isEqual(missing, { error: { code: -32001, message: 'block not found: 0xfe' } }, 'op-geth')).toBe(false)
    expect(isEqual(missing, { error: { code: -32000, message: 'header not found' } }, 'op-geth')).toBe(false)
    expect(isEqual(missing, { error: { code: -32001, message: 'block not found: 0xff' } }, 'reth')).toBe(false)
  })

  it('ignores extra members only if the recording client lacks them', () => {
    const log = { address: '0x1', data: '0x' }
    const logs = exchange('eth_getLogs', [{}], { result: [log] })
    expect(isEqual(logs, { result: [{ ...log, blockTimestamp: '0x5' }] }, 'op-geth')).toBe(true)
    expect(isEqual(logs, { result: [{ ...log, blockTimestamp: '0x5' }] }, 'reth')).toBe(false)
    expect(isEqual(logs, { result: [{ ...log, data: '0x01' }] }, 'op-geth')).toBe(false)
    expect(isEqual(logs, { result: [] }, 'op-geth')).toBe(false)
  })

  it('skips methods that are not offered yet, and no others', () => {
    const result = { result: '0x' }
    expect(skipReason(exchange('eth_call', [{}, 'latest'], result))).toBeUndefined()
    expect(skipReason(exchange('debug_traceCall', [], result))).toMatch('not offered')
    expect(skipReason(exchange('eth_notAMethod', [], { error: { code: -32601, message: 'Method not found' } }))).toBeUndefined()
    expect(skipReason(exchange('optimism_safeHeadAtL1Block', [], { error: { code: -32601, message: 'Method not found' } }))).toMatch(
      'lacks',
    )
  })

  it('determines the dialect from the client version', () => {
    expect(dialectOf([exchange('web3_clientVersion', [], { result: 'Geth/v1' })])).toBe('op-geth')
    expect(dialectOf([exchange('web3_clientVersion', [], { result: 'reth/v1' })])).toBe('reth')
  })
})
