import type { Hash } from '#types/ids'
import { address, flag, hash, quantity, resultList } from '../../codecs/values.ts'
import { param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { poolOf } from '../txpool/poolOf.ts'

export const dropTransaction = ethMethod({
  name: 'admin_dropTransaction',
  doc: 'Takes a transaction out of the pool, for good; later ones of its sender wait for another with its nonce. False when it is not there.',
  params: [param('hash', hash)],
  result: flag,
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: false },
  run: async (context, of) => (await poolOf(context).remove({ kind: 'transaction', hash: of })).length > 0,
})

export const dropSenderTransactions = ethMethod({
  name: 'admin_dropSenderTransactions',
  doc: 'Takes all transactions of a sender out of the pool, for good.',
  params: [param('sender', address)],
  result: resultList(hash),
  cost: 'point-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], result: [] },
  run: (context, sender): Promise<readonly Hash[]> => poolOf(context).remove({ kind: 'sender', sender }),
})

export const clearTxpool = ethMethod({
  name: 'admin_clearTxpool',
  doc: 'Empties the pool, for good: how many transactions were in it.',
  params: [],
  result: quantity,
  cost: 'range-read',
  example: { params: [], result: '0x0' },
  run: async (context) => (await poolOf(context).remove({ kind: 'all' })).length,
})
