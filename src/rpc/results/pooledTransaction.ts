import type { PooledTransaction } from '#types/pooledTransaction'
import { decodeTransaction } from '#types/transaction'
import type { Json } from '../json.ts'
import type { ResultCodec } from '../registry.ts'
import { pendingTransaction, transactionResult } from './transaction.ts'

/** A transaction that waits for a block: its place is null, its price what it would pay at most. */
export const pooledTransactionResult: ResultCodec<PooledTransaction> = {
  doc: 'transaction without a block',
  encode: ({ raw, hash, sender }): Json => transactionResult.encode(pendingTransaction(decodeTransaction(raw), hash, sender)),
}
