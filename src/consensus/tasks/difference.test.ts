import { expect, it } from 'vitest'
import { payloadOf } from '#test/harness/engine/engine'
import { type Hash, parseAddress, zeroHash } from '#types/ids'
import type { PayloadAttributes } from '#types/payload'
import { firstDifference } from './difference.ts'

const chain = { elasticity: 6, denominator: 50, denominatorCanyon: 250 }
const hash = (byte: string): Hash => `0x${byte.repeat(32)}` as Hash
const params = (denominator: number, elasticity: number): Uint8Array => Uint8Array.of(0, 0, 0, denominator, 0, 0, 0, elasticity)

const attributes: PayloadAttributes = {
  timestamp: 100,
  prevRandao: hash('01'),
  suggestedFeeRecipient: parseAddress(`0x${'11'.repeat(20)}`),
  withdrawals: [],
  parentBeaconBlockRoot: hash('02'),
  transactions: [Uint8Array.of(0x7e, 1), Uint8Array.of(2, 2)],
  noTxPool: true,
  gasLimit: 30_000_000n,
  eip1559Params: params(250, 6),
  minBaseFee: 7n,
}
const block = (changes: Partial<PayloadAttributes> = {}) => payloadOf({ number: 4, hash: zeroHash }, { ...attributes, ...changes })

it.each<[string, Partial<PayloadAttributes>]>([
  ['timestamp', { timestamp: 102 }],
  ['prevRandao', { prevRandao: hash('09') }],
  ['suggestedFeeRecipient', { suggestedFeeRecipient: parseAddress(`0x${'22'.repeat(20)}`) }],
  ['gasLimit', { gasLimit: 30_000_001n }],
  ['transactions[1]', { transactions: [Uint8Array.of(0x7e, 1), Uint8Array.of(2, 3)] }],
  ['transactions[1]', { transactions: [Uint8Array.of(0x7e, 1)] }],
  ['transactions', { transactions: [...attributes.transactions, Uint8Array.of(2, 4)] }],
  ['parentBeaconBlockRoot', { parentBeaconBlockRoot: hash('03') }],
  ['eip1559Params', { eip1559Params: params(249, 6) }],
  ['eip1559Params', { eip1559Params: params(250, 7) }],
  ['minBaseFee', { minBaseFee: 8n }],
])('consensus/difference: a block with another %s does not match the attributes', (field, changes) => {
  expect(firstDifference(chain, block(changes), attributes)?.field).toBe(field)
})

it('consensus/difference: a block without withdrawals or beacon root does not match', () => {
  const { withdrawals: _none, ...unpaid } = block()
  expect(firstDifference(chain, unpaid, attributes)).toEqual({ field: 'withdrawals', expected: '0', found: 'absent' })
  const { parentBeaconBlockRoot: _root, ...rootless } = block()
  expect(firstDifference(chain, rootless, attributes)?.field).toBe('parentBeaconBlockRoot')
})

it("consensus/difference: equal attributes match, and zeros match the chain's parameters", () => {
  expect(firstDifference(chain, block(), attributes)).toBeUndefined()
  expect(firstDifference(chain, block(), { ...attributes, eip1559Params: new Uint8Array(8) })).toBeUndefined()
  expect(firstDifference({ ...chain, elasticity: 5 }, block(), { ...attributes, eip1559Params: new Uint8Array(8) })).toEqual({
    field: 'eip1559Params',
    expected: '250/5',
    found: '250/6',
  })
})

it("consensus/difference: before their forks, fields are compared as absent; the fork's rules check extra data", () => {
  const { eip1559Params: _params, minBaseFee: _fee, withdrawals: _none, parentBeaconBlockRoot: _root, ...bedrock } = attributes
  const old = payloadOf({ number: 4, hash: zeroHash }, bedrock)
  expect(firstDifference(chain, { ...old, extraData: new Uint8Array(0) }, bedrock)).toBeUndefined()
  expect(firstDifference(chain, block(), bedrock)?.field).toBe('withdrawals')
  const { minBaseFee: _jovian, ...holocene } = attributes
  expect(firstDifference(chain, { ...block(), extraData: block().extraData.subarray(0, 9) }, holocene)).toBeUndefined()
  expect(firstDifference(chain, block(), holocene)?.field).toBe('minBaseFee')
})
