import { activatesAt, isActive } from '#chainspec/forks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { depositType } from '#types/transaction'
import type { TransactionList } from '../codec/transactionList.ts'

const setCodeType = 4
/** EIP-8130: 0x79 in every version of Base's client from September 2026 on, 0x7d in earlier drafts, which no public chain ran. */
const accountAbstractionType = 0x79

/**
 * Returns the reason why a batch must not hold these transactions, or undefined. Other errors in a transaction are found when the block is executed.
 * @param parentTimestamp of the parent block, seconds; timestamp: of the block, seconds
 * @see specs protocol/derivation.md, "Batch Queue"; isthmus/derivation.md, "Activation"; jovian/derivation.md, "Activation Block Rules";
 * base/base pull request 4924 for account abstraction. No source has a rule that the first Denim block is empty, as the first Jovian block is.
 */
export function refuseTransactions(
  { schedule }: RollupConfig,
  parentTimestamp: number,
  timestamp: number,
  transactions: TransactionList,
): string | undefined {
  if (transactions.length > 0 && activatesAt(schedule, 'jovian', parentTimestamp, timestamp))
    return 'transactions in the first Jovian block'
  const allowsSetCode = isActive(schedule, 'isthmus', timestamp)
  const isCobalt = isActive(schedule, 'cobalt', timestamp)
  for (const type of transactions.firstBytes) {
    if (type === undefined) return 'empty transaction'
    if (type === depositType) return 'deposit in a batch'
    if (type === accountAbstractionType && isCobalt) return 'account abstraction transaction'
    if (type === setCodeType && !allowsSetCode) return 'set-code transaction before Isthmus'
  }
  return undefined
}
