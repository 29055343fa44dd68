import { emptyBytes } from '#lib/bytes'
import type { SignedTransaction } from '#types/transaction'
import { smallerAccounts, smallerBytes } from '../fuzz/evm/minimise.ts'
import type { BlockCase, CaseTransaction } from './blockCase.ts'
import { withFields } from './twists.ts'

const without = <T>(list: readonly T[], at: number): T[] => list.filter((_, i) => i !== at)

/** Smaller variants of a case that might differ in the same way, larger steps first. The first transaction, a deposit, is kept. */
export function* smallerBlocks(given: BlockCase): Iterable<BlockCase> {
  const { transactions, calls, accounts } = given
  for (const at of transactions.keys()) if (at > 0) yield { ...given, transactions: without(transactions, at) }
  for (const at of calls.keys()) yield { ...given, calls: without(calls, at) }
  for (const address of accounts.keys()) {
    const fewer = new Map(accounts)
    fewer.delete(address)
    yield { ...given, accounts: fewer }
  }
  for (const [at, transaction] of transactions.entries()) {
    for (const smaller of smallerTransactions(transaction)) yield { ...given, transactions: transactions.with(at, smaller) }
  }
  for (const [address, account] of accounts) {
    for (const smaller of smallerAccounts(account)) yield { ...given, accounts: new Map(accounts).set(address, smaller) }
  }
}

function* smallerTransactions(transaction: CaseTransaction): Iterable<CaseTransaction> {
  const { data, value } = transaction.kind === 'deposit' ? transaction.deposit : transaction.tx
  if (value > 0n) yield withFields(transaction, { value: 0n })
  if (data.length > 0) yield withFields(transaction, { data: emptyBytes })
  for (const shorter of smallerBytes(data, 'cut')) yield withFields(transaction, { data: shorter })
  if (transaction.kind === 'deposit') {
    if (transaction.deposit.mint > 0n) yield { ...transaction, deposit: { ...transaction.deposit, mint: 0n } }
    return
  }
  const { tx } = transaction
  const change = (fields: object): CaseTransaction => ({ ...transaction, tx: { ...tx, ...fields } as SignedTransaction })
  if (tx.type !== 0) for (const at of tx.accessList.keys()) yield change({ accessList: without(tx.accessList, at) })
  if (tx.type === 4) for (const at of tx.authorizationList.keys()) yield change({ authorizationList: without(tx.authorizationList, at) })
}
