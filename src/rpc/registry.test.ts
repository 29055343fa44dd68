import { expect, it } from 'vitest'
import { fakeChain, fakeContext } from '#test/harness/rpc/fakes'
import { ethRegistry } from './methods.ts'
import { createRegistry, type Method } from './registry.ts'

const context = fakeContext(fakeChain([[], [], []]))

async function errorOf(method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return { result: await ethRegistry.get(method)?.call(context, params) }
  } catch (error) {
    const { code, message, data } = error as { code?: number; message: string; data?: unknown }
    return { code, message, ...(data !== undefined && { data }) }
  }
}
const unreadable = (data: string) => ({ code: -32602, message: 'Invalid params', data })

const token = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
const blockHash = `0x${'7e'.repeat(32)}`

it.each([
  // texts and positions recorded from Base's client
  ['eth_getBalance', ['0x1234', 'latest'], unreadable('invalid string length at line 1 column 8')],
  ['eth_call', [{ to: '0x1234' }, '0x1'], unreadable('invalid string length at line 1 column 14')],
  ['eth_getBlockByNumber', ['banana', false], unreadable('hex string without 0x prefix')],
  ['eth_getBlockByNumber', [], unreadable('No more params')],
  ['eth_getLogs', [{ fromBlock: 'x' }], unreadable('hex string without 0x prefix at line 1 column 17')],
  [
    'eth_getLogs',
    [{ blockHash, fromBlock: '0x1' }],
    unreadable('cannot specify both blockHash and fromBlock/toBlock, choose one or the other at line 1 column 100'),
  ],
  ['eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x1' }], { code: -32602, message: 'invalid block range params' }],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x3' }], { code: -32602, message: 'block range extends beyond current head block' }],
  ['eth_getBalance', [token, '0xfffffff'], { code: -32001, message: 'block not found: 0xfffffff' }],
  ['eth_call', [{ to: token }, '0xffffff'], { code: -32001, message: 'block not found: 0xffffff' }],
  [
    'eth_call',
    [{ to: token, maxFeePerGas: '0x1', gasPrice: '0x2' }, 'latest'],
    { code: -32602, message: 'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified' },
  ],
  [
    'eth_call',
    [{ to: token, data: '0x12', input: '0x34' }, 'latest'],
    { code: -32602, message: 'both "data" and "input" are set and not equal. Please use "input" to pass transaction call data' },
  ],
  // our own texts
  ['eth_getBalance', [], unreadable('No more params')],
  [
    'eth_getBalance',
    [null],
    unreadable('invalid type: null, expected 20 bytes, represented as a hex string of length 40 at line 1 column 4'),
  ],
  ['eth_getBalance', [`0x${'g'.repeat(40)}`], unreadable("invalid character 'g' at position 0 at line 1 column 44")],
  ['eth_getBalance', [token, { blockHash: '0x12' }], unreadable('invalid string length at line 1 column 19')],
  ['eth_getBalance', [token, {}], unreadable('exactly one of blockHash and blockNumber is needed at line 1 column 2')],
  ['eth_getBalance', [token, blockHash], { code: -32001, message: `block not found: hash ${blockHash}` }],
  [
    'eth_getBalance',
    [token, { blockHash, requireCanonical: true }],
    { code: -32001, message: `block not found: canonical hash ${blockHash}` },
  ],
  ['eth_getProof', [token, ['0x1', 'zz'], 'latest'], unreadable('hex string without 0x prefix at line 1 column 11')],
  ['eth_getProof', [token, Array(1025).fill('0x0'), 'latest'], { code: -32602, message: 'list of 1025 items, at most 1024 allowed' }],
  ['eth_getLogs', [{ topics: [null, null, null, null, null] }], unreadable('exceeds maximum topics, 4 allowed at line 1 column 37')],
  ['eth_getLogs', ['latest'], unreadable('invalid type: string "latest", expected a filter object at line 1 column 8')],
  ['eth_getLogs', [{ blockHash }], { code: -32001, message: `block not found: hash ${blockHash}` }],
  [
    'eth_call',
    [{ to: token }, 'latest', { [token]: { state: {}, stateDiff: {} } }],
    { code: -32602, message: `account ${token} has both 'state' and 'stateDiff'` },
  ],
  [
    'eth_call',
    [{ blobVersionedHashes: [] }],
    { code: -32004, message: 'not supported by this version: the member blobVersionedHashes of a call' },
  ],
])('rpc/registry: %s refuses %j', async (method, params, expected) => {
  expect(await errorOf(method, params)).toEqual(expected)
})

it('rpc/registry: refuses a parameter nested deeper than the stack allows', async () => {
  const deep: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)
  expect(await errorOf('eth_getBalance', [deep])).toMatchObject({ code: -32602 })
})

it('rpc/registry: uses the default for a missing or null optional parameter', async () => {
  const balance = ethRegistry.get('eth_getBalance')
  expect(await balance?.call(context, [token])).toBe('0x0')
  expect(await balance?.call(context, [token, null])).toBe('0x0')
})

it('rpc/registry: refuses two methods with one name (DUPLICATE_METHOD)', () => {
  const methods = [...ethRegistry.values()]
  expect(() => createRegistry(methods, methods.slice(0, 1))).toThrow(expect.objectContaining({ code: 'DUPLICATE_METHOD' }))
})

it('rpc/registry: every method has a doc, a cost and a result, and its optional parameters come last', () => {
  for (const method of ethRegistry.values() as Iterable<Method<unknown>>) {
    expect(method.doc).toMatch(/\.$/)
    expect(method.result.doc).not.toBe('')
    const optional = method.params.map(({ fallback }) => fallback !== undefined)
    expect(optional).toEqual([...optional].sort())
  }
})
