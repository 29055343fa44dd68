import type { PooledTransaction } from '#types/pooledTransaction'
import { decodeTransaction } from '#types/transaction'
import type { Json } from '../json.ts'
import type { ResultCodec } from '../registry.ts'
import { pendingTransaction, transactionResult } from './transaction.ts'

/** A pool transaction: its block fields are null, its price is the maximum it would pay. */
export const pooledTransactionResult: ResultCodec<PooledTransaction> = {
  doc: 'transaction without a block',
  encode: ({ raw, hash, sender }): Json => transactionResult.encode(pendingTransaction(decodeTransaction(raw), hash, sender)),
}
