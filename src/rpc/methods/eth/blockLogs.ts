import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { prunedHistory } from '../../errors.ts'
import type { ChainView } from '../../ports.ts'
import type { PlacedLog } from '../../results/log.ts'
import type { LogMatcher } from './matchLogs.ts'

/** The logs of one block that match, in order. RpcError 4444 when its receipts are not retained. */
export function logsOfBlock(view: ChainView, hash: Hash, matcher: LogMatcher): readonly PlacedLog[] {
  const found = view.block(hash)
  const receipts = view.receipts(hash)
  if (found === undefined || receipts === undefined) throw prunedHistory()
  const { header, transactions } = found.block
  const block = { hash, number: header.number, timestamp: header.timestamp }
  return receipts.flatMap(({ receipt, firstLogIndex }, transactionIndex) => {
    const raw = transactions[transactionIndex]
    const matching = [...receipt.logs.entries()].filter(([, log]) => matcher.matches(log))
    if (raw === undefined || matching.length === 0) return []
    const transactionHash = hashTransaction(raw)
    return matching.map(([index, log]) => ({ log, block, transactionHash, transactionIndex, logIndex: firstLogIndex + index }))
  })
}
