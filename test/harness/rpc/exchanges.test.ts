import { describe, expect, it } from 'vitest'
import type { Dialect, Outcome } from './causes.ts'
import { dialectOf, type Exchange, firstDifference, judge, parseExchanges } from './exchanges.ts'
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

/** Returns the causes of a difference; undefined for an unknown difference. */
function causes({ method, params, outcome }: Exchange, ours: Outcome, dialect: Dialect = 'reth', others: readonly Exchange[] = []) {
  const result = (of: string, by: readonly Json[]): Json | undefined => {
    const found = others.find((other) => other.method === of && JSON.stringify(other.params) === JSON.stringify(by))?.outcome
    return found && 'result' in found ? found.result : undefined
  }
  const verdict = judge({ theirs: outcome, ours }, { method, params, head: 100, recorded: result }, dialect)
  return 'causes' in verdict ? verdict.causes : undefined
}

describe('harness/rpc/exchanges', () => {
  it('parses notes, requests, results and errors', () => {
    expect(chainId).toEqual({ note: 'tip above cap', method: 'eth_chainId', params: [], outcome: { result: '0x1' } })
    expect(balance.outcome).toMatchObject({ error: { code: -32602 } })
  })

  it('reports a wrong value, a missing and an extra member, an error in place of a result and the reverse', () => {
    expect(causes(chainId, { result: '0x1' })).toEqual([])
    expect(causes(chainId, { result: '0x2' })).toBeUndefined()
    expect(causes(chainId, { error: { code: -32602, message: 'Invalid params' } })).toBeUndefined()
    expect(causes(balance, { result: null })).toBeUndefined()
    expect(firstDifference({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toEqual({ path: '.a.1.b', expected: 2, found: 3 })
    expect(firstDifference({ a: 1 }, {})).toMatchObject({ path: '.a' })
    expect(firstDifference({}, { a: null })).toMatchObject({ path: '.a' })
    expect(firstDifference([], {})).toEqual({ path: '', expected: [], found: {} })
    expect(firstDifference({ a: 1, b: 2 }, { b: 2, a: 1 })).toBeUndefined()
  })

  it('compares code, message and data of an error', () => {
    const error = { code: -32602, message: 'Invalid params', data: 'invalid string length at line 1 column 8' }
    expect(causes(balance, { error })).toEqual([])
    expect(causes(balance, { error: { ...error, code: -32603 } })).toBeUndefined()
    expect(causes(balance, { error: { ...error, data: 'invalid string length at line 1 column 9' } })).toBeUndefined()
    expect(causes(balance, { error: { code: error.code, message: error.message } })).toBeUndefined()
  })

  it("translates each of op-geth's errors into one error only", () => {
    const missing = exchange('eth_getBalance', ['0x1', '0xff'], { error: { code: -32000, message: 'header not found' } })
    const error = { code: -32001, message: 'block not found: 0xff' }
    expect(causes(missing, { error }, 'op-geth')).toEqual(["code and text of an error are op-geth's"])
    expect(causes(missing, { error: { code: -32001, message: 'block not found: 0xfe' } }, 'op-geth')).toBeUndefined()
    expect(causes(missing, { error }, 'reth')).toBeUndefined()
  })

  it('names only the causes that a difference has, and none for an equal outcome', () => {
    const log = { address: '0x1', data: '0x' }
    const logs = exchange('eth_getLogs', [{}], { result: [log] })
    expect(causes(logs, { result: [{ ...log, blockTimestamp: '0x5' }] }, 'op-geth')).toEqual(['a log has no blockTimestamp'])
    expect(causes(logs, { result: [log] }, 'op-geth')).toEqual([])
    expect(causes(logs, { result: [{ ...log, blockTimestamp: '0x5' }] }, 'reth')).toBeUndefined()
    expect(causes(logs, { result: [{ ...log, data: '0x01' }] }, 'op-geth')).toBeUndefined()
    expect(causes(logs, { result: [] }, 'op-geth')).toBeUndefined()
  })

  it('takes the values in place of a wrong recorded value from other recorded exchanges', () => {
    const history = exchange('eth_feeHistory', ['0x1', '0xb', []], { result: { baseFeePerGas: ['0x5', '0x6'] } })
    const next = exchange('eth_getBlockByNumber', ['0xc', true], { result: { baseFeePerGas: '0x7' } })
    const right = { result: { baseFeePerGas: ['0x5', '0x7'] } }
    expect(causes(history, right, 'op-geth', [next])).toHaveLength(1)
    expect(causes(history, right, 'op-geth')).toBeUndefined()
    expect(causes(history, { result: { baseFeePerGas: ['0x5', '0x8'] } }, 'op-geth', [next])).toBeUndefined()
  })

  it('determines the dialect from the client version', () => {
    expect(dialectOf([exchange('web3_clientVersion', [], { result: 'Geth/v1' })])).toBe('op-geth')
    expect(dialectOf([exchange('web3_clientVersion', [], { result: 'reth/v1' })])).toBe('reth')
  })
})
