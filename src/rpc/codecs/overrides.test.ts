import { expect, it } from 'vitest'
import { account, topic } from '#test/harness/rpc/fakes'
import { blockOverrides } from './blockOverride.ts'
import { stateOverrides } from './stateOverride.ts'

it('rpc/codecs/stateOverride: leaves absent members unset', () => {
  const parsed = stateOverrides.parse({
    [account(1)]: { nonce: '0x5', balance: '0x10', code: '0x00ff', stateDiff: { [topic(1)]: topic(2) } },
    [account(2)]: { state: {}, movePrecompileToAddress: account(3), balance: null },
  })
  expect([...parsed]).toEqual([
    [account(1), { nonce: 5n, balance: 16n, code: Uint8Array.of(0, 255), stateDiff: new Map([[topic(1), 2n]]) }],
    [account(2), { state: new Map(), movePrecompileTo: account(3) }],
  ])
})

it.each<[string, unknown, string]>([
  ['no object', [], 'invalid type: sequence, expected an object of account overrides'],
  ['an account that is none', { '0x12': {} }, 'invalid string length'],
  ['an override that is no object', { [account(1)]: 5 }, 'invalid type: integer `5`, expected an account override object'],
  ['a nonce over 64 bits', { [account(1)]: { nonce: '0x10000000000000000' } }, 'number too large to fit in target type'],
  ['a slot that is no word', { [account(1)]: { state: { '0x1': topic(1) } } }, 'odd number of digits'],
  ['a member that is none', { [account(1)]: { statediff: {} } }, 'unknown field `statediff`'],
  ['both kinds of storage', { [account(1)]: { state: {}, stateDiff: {} } }, `account ${account(1)} has both 'state' and 'stateDiff'`],
  [
    'more slots than there may be',
    { [account(1)]: { state: Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [i, ''])) } },
    'more than 100000 storage slots are overridden',
  ],
])('rpc/codecs/stateOverride: refuses %s', (_what, value, message) => {
  expect(() => stateOverrides.parse(value)).toThrow(message)
})

it('rpc/codecs/blockOverride: accepts the field names of go-ethereum and of reth', () => {
  const expected = { beneficiary: account(1), prevRandao: topic(1), baseFee: 7n }
  expect(blockOverrides.parse({ feeRecipient: account(1), prevRandao: topic(1), baseFeePerGas: '0x7' })).toMatchObject(expected)
  expect(blockOverrides.parse({ coinbase: account(1), random: topic(1), baseFee: '0x7' })).toMatchObject(expected)
  expect(blockOverrides.parse({ blockNumber: '0x5', timestamp: '0x6', difficulty: '0x0' })).toEqual({ number: 5, timestamp: 6 })
  expect(blockOverrides.parse({ number: '0x5', time: '0x6', gasLimit: '0x7', blockHash: { '3': topic(2), '0x4': topic(3) } })).toEqual({
    number: 5,
    timestamp: 6,
    gasLimit: 7n,
    blockHashes: new Map([
      [3, topic(2)],
      [4, topic(3)],
    ]),
  })
})

it.each<[string, unknown]>([
  ['no object', 'latest'],
  ['a member that is none', { tiem: '0x5' }],
  ['a number that is not safe', { number: '0x20000000000000' }],
  ['more hashes than BLOCKHASH reaches', { blockHash: Object.fromEntries(Array.from({ length: 257 }, (_, i) => [i, topic(1)])) }],
])('rpc/codecs/blockOverride: refuses %s', (_what, value) => {
  expect(() => blockOverrides.parse(value)).toThrow()
})
