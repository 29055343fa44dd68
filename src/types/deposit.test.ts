import { serializeTransaction } from 'viem/op-stack'
import { expect, it } from 'vitest'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { decodeRlp, encodeRlp, RlpError, type RlpItem } from '#lib/rlp'
import { type Deposit, decodeDeposit, encodeDeposit } from './deposit.ts'
import { parseAddress, parseHash } from './ids.ts'

const call: Deposit = {
  type: 0x7e,
  sourceHash: parseHash(`0x${'5a'.repeat(32)}`),
  from: parseAddress('0xDeaDDEaDDeAdDeAdDEAdDEaddeAddEAdDEAd0001'),
  to: parseAddress('0x4200000000000000000000000000000000000015'),
  mint: 10n ** 18n,
  value: 7n,
  gasLimit: 1_000_000n,
  isSystemTransaction: false,
  data: fromHex('0x00ff8000'),
}

it.each<[string, Deposit]>([
  ['a call', call],
  ['a creation without mint', { ...call, to: null, mint: 0n, data: new Uint8Array(80).fill(0x60) }],
  ['a system transaction with the largest gas limit', { ...call, isSystemTransaction: true, gasLimit: 2n ** 64n - 1n }],
  ['a deposit without value, gas and data', { ...call, mint: 0n, value: 0n, gasLimit: 0n, data: new Uint8Array(0) }],
  ['a deposit with the largest amounts', { ...call, mint: 2n ** 256n - 1n, value: 2n ** 256n - 1n }],
])('types/deposit: %s encodes as in another implementation and round-trips', (_what, deposit) => {
  const { sourceHash, from, to, mint, value, gasLimit: gas, isSystemTransaction: isSystemTx } = deposit
  const optional = { ...(to !== null && { to }), ...(mint > 0n && { mint }), ...(value > 0n && { value }) }
  const fields = { type: 'deposit', sourceHash, from, gas, isSystemTx, data: toHex(deposit.data), ...optional } as const
  expect(toHex(encodeDeposit(deposit))).toBe(serializeTransaction(fields))
  expect(decodeDeposit(encodeDeposit(deposit))).toEqual(deposit)
})

const fields = decodeRlp(encodeDeposit(call).subarray(1)) as readonly RlpItem[]
const deposit = (items: RlpItem, type = 0x7e): Uint8Array => concatBytes(Uint8Array.of(type), encodeRlp(items))
const replaced = (at: number, item: RlpItem): Uint8Array => deposit(fields.map((field, index) => (index === at ? item : field)))

it.each<[string, Uint8Array]>([
  ['nothing', new Uint8Array(0)],
  ['another type', deposit(fields, 0x02)],
  ['a deposit without its data', deposit(fields.slice(0, 7))],
  ['an extra field', deposit([...fields, new Uint8Array(0)])],
  ['bytes after the end', concatBytes(encodeDeposit(call), Uint8Array.of(0))],
  ['a short source hash', replaced(0, new Uint8Array(31))],
  ['an empty sender', replaced(1, new Uint8Array(0))],
  ['a receiver of 10 bytes', replaced(2, new Uint8Array(10))],
  ['a value of 33 bytes', replaced(4, new Uint8Array(33).fill(1))],
  ['a gas limit of 9 bytes', replaced(5, new Uint8Array(9).fill(1))],
  ['a flag of 2', replaced(6, Uint8Array.of(2))],
  ['a flag encoded as a zero byte', replaced(6, Uint8Array.of(0))],
  ['data that is a list', replaced(7, [])],
])('types/deposit: decodeDeposit rejects %s', (_what, bytes) => {
  expect(() => decodeDeposit(bytes)).toThrow(RlpError)
})
