import { expect, it } from 'vitest'
import { secp256k1Order } from '#lib/secp256k1'
import { accountOf, signedBy } from '#test/harness/chain/blocks'
import { decodeTransaction, depositType } from '#types/transaction'
import { recoverFrontierSender } from './frontierSender.ts'

it('ethereum/frontierSender: accepts a signature with high s', () => {
  const tx = decodeTransaction(signedBy('alice', {}))
  if (tx.type === depositType) throw new Error('a deposit')
  const other = { ...tx, s: secp256k1Order - tx.s, yParity: tx.yParity === 0 ? 1 : 0 } as const
  expect([recoverFrontierSender(tx), recoverFrontierSender(other)]).toEqual([accountOf('alice'), accountOf('alice')])
})
