import type { Hash } from '#types/ids'
import { address, flag, hash, quantity, resultList } from '../../codecs/values.ts'
import { param } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { poolOf } from '../txpool/poolOf.ts'

export const dropTransaction = ethMethod({
  name: 'admin_dropTransaction',
  doc: 'Removes a transaction from the pool permanently. Later transactions of its sender then wait for another one with its nonce. Returns false when the transaction is not in the pool.',
  params: [param('hash', hash)],
  result: flag,
  cost: 'point-read',
  example: { params: [`0x${'11'.repeat(32)}`], result: false },
  run: async (context, of) => (await poolOf(context).remove({ kind: 'transaction', hash: of })).length > 0,
})

export const dropSenderTransactions = ethMethod({
  name: 'admin_dropSenderTransactions',
  doc: 'Removes all transactions of a sender from the pool permanently, and returns their hashes.',
  params: [param('sender', address)],
  result: resultList(hash),
  cost: 'point-read',
  example: { params: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], result: [] },
  run: (context, sender): Promise<readonly Hash[]> => poolOf(context).remove({ kind: 'sender', sender }),
})

export const clearTxpool = ethMethod({
  name: 'admin_clearTxpool',
  doc: 'Removes all transactions from the pool permanently, and returns their number.',
  params: [],
  result: quantity,
  cost: 'range-read',
  example: { params: [], result: '0x0' },
  run: async (context) => (await poolOf(context).remove({ kind: 'all' })).length,
})
