import { expect, it } from 'vitest'
import { toHex } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { type Deposit, decodeDeposit, encodeDeposit } from '#types/deposit'
import { zeroAddress, zeroHash } from '#types/ids'
import { baseTimeCode, baseTimeSetterIndex, encodeBaseTimeDeposit, readBaseTime } from './baseTime.ts'
import { baseTimeSource } from './sourceHash.ts'

const attributes = encodeDeposit({
  ...{ type: 0x7e, sourceHash: zeroHash, from: zeroAddress, to: zeroAddress, mint: 0n, value: 0n },
  ...{ gasLimit: 1_000_000n, isSystemTransaction: false, data: new Uint8Array(4) },
})
const good = encodeBaseTimeDeposit(7, 400)
const changed = (fields: Partial<Deposit>): Uint8Array => encodeDeposit({ ...decodeDeposit(good), ...fields })
const data = (change: (bytes: Uint8Array) => void): Uint8Array => {
  const bytes = decodeDeposit(good).data.slice()
  change(bytes)
  return changed({ data: bytes })
}

it('chainspec/baseTime: the runtime code is the published one', () => {
  expect(baseTimeCode.length).toBe(878)
  expect(toHex(keccak256(baseTimeCode))).toBe('0x9c4c8a497a69d0b8f2ba67be0bee7a1373186055978c3be6ec3068e0ec27f32a')
})

it.each([
  [53_556_127, '0x732c0e3790ffb8b0c2c505631185452a46004ee3b97d48b751ca5b653363f46d'],
  [48_418_656, '0xbaf59b0db7fe6464ea9b8dfe4ff8becbbf1716ecd3d1ca5a63449c47b793a88b'],
])('chainspec/baseTime: the source hash of block %i is the published one', (number, hash) => {
  expect(baseTimeSource(number)).toBe(hash)
})

it('chainspec/baseTime: reads the milliseconds that the encoder wrote', () => {
  for (const millisPart of [0, 200, 400, 600, 800]) {
    expect(readBaseTime([attributes, encodeBaseTimeDeposit(7, millisPart)], 7)).toEqual({ kind: 'read', millisPart })
  }
})

it.each<[string, readonly Uint8Array[], string]>([
  ['no transaction at index 1', [attributes], 'missing BaseTime metadata deposit at tx[1]'],
  ['a signed transaction at index 1', [attributes, Uint8Array.of(2, 0xc0)], 'is not a deposit'],
  ['a malformed deposit at index 1', [attributes, Uint8Array.of(0x7e, 0xc0)], 'is not a deposit'],
  ['the deposit of another block', [attributes, encodeBaseTimeDeposit(8, 400)], 'source hash'],
  ['another sender', [attributes, changed({ from: zeroAddress })], 'sender'],
  ['another recipient', [attributes, changed({ to: zeroAddress })], 'recipient'],
  ['a contract creation', [attributes, changed({ to: null })], 'recipient'],
  ['a mint', [attributes, changed({ mint: 1n })], 'mint 1'],
  ['a value', [attributes, changed({ value: 1n })], 'value 1'],
  ['another gas limit', [attributes, changed({ gasLimit: 999_999n })], 'gas limit 999999'],
  ['the flag of system transactions', [attributes, changed({ isSystemTransaction: true })], 'system transaction'],
  ['35 bytes of calldata', [attributes, changed({ data: decodeDeposit(good).data.subarray(0, 35) })], 'calldata'],
  ['another selector', [attributes, data((bytes) => bytes.set([1], 0))], 'calldata'],
  ['dirty padding', [attributes, data((bytes) => bytes.set([1], 33))], 'calldata padding'],
  ['100 ms', [attributes, data((bytes) => bytes.set([0, 100], 34))], 'milliseconds 100'],
  ['1,000 ms', [attributes, data((bytes) => bytes.set([3, 232], 34))], 'milliseconds 1000'],
  [
    'a second setter',
    [attributes, good, attributes, encodeBaseTimeDeposit(7, 600)],
    'additional protocol-authorized BaseTime setter at tx[3]',
  ],
  ['a setter before it', [encodeBaseTimeDeposit(7, 600), good], 'additional protocol-authorized BaseTime setter at tx[0]'],
])('chainspec/baseTime: refuses %s', (_what, transactions, reason) => {
  expect(readBaseTime(transactions, 7)).toEqual({ kind: 'malformed', reason: expect.stringContaining(reason) })
})

it('chainspec/baseTime: finds a setter of the protocol, but no call of a user', () => {
  expect(baseTimeSetterIndex([attributes, good])).toBe(1)
  expect(baseTimeSetterIndex([attributes, changed({ from: zeroAddress }), Uint8Array.of(0x7e), Uint8Array.of(2)])).toBe(-1)
})
