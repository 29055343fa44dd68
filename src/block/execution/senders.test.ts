import { expect, it } from 'vitest'
import { secp256k1Order } from '#lib/secp256k1'
import { accountOf, hashOf, signedBy } from '#test/harness/chain/blocks'
import { recoverSender } from '#types/recoverSender'
import { decodeTransaction, depositType, type SignedTransaction } from '#types/transaction'
import { createSenders } from './senders.ts'

function transaction(): SignedTransaction {
  const tx = decodeTransaction(signedBy('alice', {}))
  if (tx.type === depositType) throw new Error('a deposit')
  return tx
}

it('block/execution/senders: recovers the account whose key signed', () => {
  expect(recoverSender(transaction())).toBe(accountOf('alice'))
})

it('block/execution/senders: refuses a signature with high s (EIP-2)', () => {
  const tx = transaction()
  const other: SignedTransaction = { ...tx, s: secp256k1Order - tx.s, yParity: tx.yParity === 0 ? 1 : 0 }
  expect(recoverSender(other)).toBeUndefined()
})

it.each([
  ['r is zero', { r: 0n }],
  ['s is zero', { s: 0n }],
  ['r is the order', { r: secp256k1Order }],
  ['r has more than 32 bytes', { r: 1n << 256n }],
])('block/execution/senders: returns undefined when %s', (_what, fields) => {
  expect(recoverSender({ ...transaction(), ...fields })).toBeUndefined()
})

it('block/execution/senders: recovers a transaction once, and one without a sender each time', () => {
  const senders = createSenders({ maxBytes: 1_000 })
  expect(senders.of(transaction(), hashOf('a'))).toBe(accountOf('alice'))
  expect(senders.of({ ...transaction(), r: 0n }, hashOf('a'))).toBe(accountOf('alice'))
  expect(senders.of({ ...transaction(), r: 0n }, hashOf('b'))).toBeUndefined()
})
