import { expect, it } from 'vitest'
import { fromHex } from '#lib/hex'
import { secp256k1Order } from '#lib/secp256k1'
import { scheduleTo, signedBy } from '#test/harness/chain/blocks'
import { PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import { zeroAddress, zeroHash } from '#types/ids'
import type { PoolRefusal } from '#types/pooledTransaction'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, encodeTransaction, type FeeMarketTransaction, type SignedTransaction } from '#types/transaction'
import type { TxPool, TxPoolLimits } from './txPool.ts'

const outcome = (pool: TxPool, raw: Uint8Array): PoolRefusal | string => {
  const [one] = pool.add([raw])
  if (one === undefined) return 'no outcome'
  return one.kind === 'refused' ? one.refusal : one.kind
}
const of = (fields: Partial<FeeMarketTransaction>) => poolTransaction(1, fields)
/** A transaction of another type with the fields of a type 2 transaction. */
const typed = (type: 0 | 1 | 3 | 4, fields: object = {}) => {
  const tx = decodeTransaction(of({})) as FeeMarketTransaction
  return encodeTransaction({ ...tx, gasPrice: 10_000n, ...fields, type } as unknown as SignedTransaction)
}
const authorization = { chainId: 0n, address: zeroAddress, nonce: 0n, yParity: 0, r: 1n, s: 1n }
const initcode = new Uint8Array(49_153)

it.each<[string, Uint8Array, PoolRefusal | string, TxPoolLimits?]>([
  ['no bytes', new Uint8Array(0), { kind: 'undecodable', reason: 'empty transaction' }],
  ['truncated bytes', of({}).subarray(0, 30), expect.objectContaining({ kind: 'undecodable' })],
  ['a trailing byte', Uint8Array.from([...of({}), 0]), expect.objectContaining({ kind: 'undecodable' })],
  ['a deposit', Uint8Array.of(0x7e, 0xc0), { kind: 'type', type: 0x7e }],
  ['an unknown type', Uint8Array.of(0x79, 0xc0), { kind: 'type', type: 0x79 }],
  ['bytes with an invalid first byte', Uint8Array.of(0xb8, 0x01), { kind: 'type', type: 0xb8 }],
  ['a blob transaction', typed(3, { maxFeePerBlobGas: 1n, blobVersionedHashes: [zeroHash] }), { kind: 'type', type: 3 }],
  ['more than 128 KiB', of({ data: new Uint8Array(131_072) }), expect.objectContaining({ kind: 'oversized', limit: 131_072 })],
  ['another chain id', of({ chainId: 902n }), { kind: 'chain-id' }],
  ['an empty authorization list', typed(4, { authorizationList: [] }), { kind: 'empty-authorizations' }],
  ['a gas limit above that of the block', of({ gasLimit: 30_000_001n }), { kind: 'gas-limit', limit: 30_000_000n }],
  ['too much initcode', of({ to: null, data: initcode, gasLimit: 29_000_000n }), { kind: 'initcode-size' }],
  ['a gas limit below the intrinsic gas', of({ data: Uint8Array.of(1), gasLimit: 21_015n }), { kind: 'intrinsic-gas' }],
  ['a gas limit below the floor', of({ data: new Uint8Array(100).fill(1), gasLimit: 24_999n }), { kind: 'intrinsic-gas' }],
  ['a tip above the fee cap', of({ maxPriorityFeePerGas: 10_001n }), { kind: 'tip-above-fee-cap' }],
  ['a tip below the minimum', of({ maxPriorityFeePerGas: 4n }), { kind: 'underpriced' }, { minTip: 5n }],
  ['the maximum nonce', of({ nonce: 2n ** 64n - 1n }), { kind: 'nonce-max' }],
  ['a nonce too far ahead', of({ nonce: 10_001n }), { kind: 'nonce-too-high' }],
  ['a nonce at the maximum distance', of({ nonce: 10_000n }), 'added'],
  [
    'a cost above the balance',
    of({ value: 10n ** 18n }),
    { kind: 'insufficient-funds', have: 10n ** 18n, want: 10n ** 18n + 210_000_000n },
  ],
  [
    'maximum numbers in all fields',
    of({ value: 2n ** 256n - 1n, maxFeePerGas: 2n ** 256n - 1n }),
    expect.objectContaining({ kind: 'insufficient-funds' }),
  ],
  ['a legacy transaction', typed(0), 'added'],
  ['a legacy transaction without a chain id', typed(0, { chainId: undefined }), 'added'],
  ['an access list', typed(1, { accessList: [{ address: zeroAddress, slots: [zeroHash] }], gasLimit: 30_000n }), 'added'],
  [
    'an access list that the gas limit does not cover',
    typed(1, { accessList: [{ address: zeroAddress, slots: [] }] }),
    { kind: 'intrinsic-gas' },
  ],
  ['an authorization list', typed(4, { authorizationList: [authorization], gasLimit: 46_000n }), 'added'],
])('txpool/checks: validates %s', (_what, raw, expected, limits = {}) => {
  const pool = new PoolChain().pool(limits)
  expect(outcome(pool, raw)).toEqual(expected)
  expect(pool.size()).toEqual(expected === 'added' ? expect.anything() : { pending: 0, queued: 0 })
})

it('txpool/checks: refuses an authorization list under Granite', () => {
  const pool = new PoolChain(scheduleTo('granite')).pool()
  expect(outcome(pool, typed(4, { authorizationList: [authorization], gasLimit: 46_000n }))).toEqual({ kind: 'type', type: 4 })
  // Granite has no floor gas either
  expect(outcome(pool, of({ data: new Uint8Array(100).fill(1), gasLimit: 22_600n }))).toBe('added')
})

it.each([
  ['the last head but one before Azul', 3, ['added', 'added']],
  ['the last head before Azul', 1, [{ kind: 'transaction-gas-limit', limit: 16_777_216n }, 'added']],
  ['a head under Azul', 0, [{ kind: 'transaction-gas-limit', limit: 16_777_216n }, 'added']],
])('txpool/checks: applies the cap of 16,777,216 gas (EIP-7825) on %s', (_what, secondsBefore, expected) => {
  const { timestamp } = new PoolChain().head.header
  const pool = new PoolChain({ ...scheduleTo('jovian'), azul: timestamp + secondsBefore }).pool()
  const asking = [of({ gasLimit: 16_777_217n }), poolTransaction(2, { gasLimit: 16_777_216n })]
  expect(asking.map((raw) => outcome(pool, raw))).toEqual(expected)
})

it('txpool/txPool: recovers the sender, and refuses a signature without a key or with high s', () => {
  const chain = new PoolChain()
  const pool = chain.pool({}, { senders: { of: recoverSender } })
  const raw = signedBy('alice', {})
  const tx = decodeTransaction(raw) as FeeMarketTransaction
  expect(outcome(pool, encodeTransaction({ ...tx, r: 0n }))).toEqual({ kind: 'signature' })
  expect(outcome(pool, encodeTransaction({ ...tx, s: secp256k1Order - tx.s, yParity: tx.yParity === 0 ? 1 : 0 }))).toEqual({
    kind: 'signature',
  })
  expect(outcome(pool, raw)).toBe('added')
  expect(outcome(pool, raw)).toBe('known')
})

it('txpool/checks: names the next nonce when a nonce is used', () => {
  const chain = new PoolChain()
  chain.include([], [[poolAccount(1), { nonce: 7n, balance: 10n ** 18n }]])
  expect(outcome(chain.pool(), of({ nonce: 6n }))).toEqual({ kind: 'nonce-too-low', next: 7n, nonce: 6n })
})

it.each([
  ['neither price is raised enough', { maxFeePerGas: 10_999n, maxPriorityFeePerGas: 11n }, 'refused'],
  ['only the fee cap is raised enough', { maxFeePerGas: 11_000n, maxPriorityFeePerGas: 10n }, 'refused'],
  ['both are raised by a tenth', { maxFeePerGas: 11_000n, maxPriorityFeePerGas: 11n }, 'added'],
])('txpool/checks: decides on a replacement when %s: %s', (_what, fees, expected) => {
  const pool = new PoolChain().pool()
  expect(outcome(pool, of({}))).toBe('added')
  const replaced = outcome(pool, of(fees))
  expect(replaced).toEqual(expected === 'added' ? 'added' : { kind: 'replacement-underpriced' })
  expect(pool.size()).toEqual({ pending: 1, queued: 0 })
})

it('txpool/checks: refuses a contract, and allows a delegated account only its next transaction and replacements of it', () => {
  const chain = new PoolChain()
  const balance = 10n ** 18n
  const delegated = { nonce: 3n, balance, code: fromHex(`0xef0100${'07'.repeat(20)}`) }
  chain.include(
    [],
    [
      [poolAccount(1), delegated],
      [poolAccount(2), { nonce: 1n, balance, code: Uint8Array.of(0x00) }],
    ],
  )
  const pool = chain.pool()
  expect(outcome(pool, poolTransaction(2, { nonce: 1n }))).toEqual({ kind: 'sender-has-code' })
  expect(outcome(pool, of({ nonce: 4n }))).toEqual({ kind: 'nonce-too-high' })
  expect(outcome(pool, of({ nonce: 3n }))).toBe('added')
  expect(outcome(pool, of({ nonce: 4n }))).toEqual({ kind: 'delegated-limit' })
  expect(outcome(pool, of({ nonce: 3n, maxFeePerGas: 11_000n, maxPriorityFeePerGas: 11n }))).toBe('added')
  expect(pool.size()).toEqual({ pending: 1, queued: 0 })
})

const slot = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as typeof zeroHash

it('txpool/headFacts: charges nothing for data on the first Ecotone block, which leaves the prices of Bedrock', () => {
  const chain = new PoolChain()
  // Bedrock's formula would read a scalar in Ecotone's format as more than any balance
  chain.slots
    .set(slot(1), 10n ** 9n)
    .set(slot(5), 188n)
    .set(slot(6), (1n << 248n) | 1_368n)
  expect(outcome(chain.pool(), of({}))).toBe('added')
})

it('txpool/headFacts: adds L1 data fee and operator fee at the prices in L1Block', () => {
  const chain = new PoolChain()
  // Fjord: minimum size 100 bytes, L1 base fee 1,000 and its scalar 1,000,000: 16 × 1,000 × 100 wei. Isthmus: constant 77
  chain.slots
    .set(slot(1), 1_000n)
    .set(slot(3), 1_000_000n << 96n)
    .set(slot(8), 77n)
  const want = 21_000n * 10_000n + 1n + 1_600_000n + 77n
  chain.include(
    [],
    [
      [poolAccount(1), { nonce: 0n, balance: want - 1n }],
      [poolAccount(2), { nonce: 0n, balance: want }],
    ],
  )
  const pool = chain.pool()
  expect(outcome(pool, of({}))).toEqual({ kind: 'insufficient-funds', have: want - 1n, want })
  expect(outcome(pool, poolTransaction(2))).toBe('added')
  expect(pool.best(0n).next()?.sizeBytes).toBe(100)
})
