import type { Hash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import type { DecodedBlock } from '../../blockCache.ts'
import type { EthContext } from '../../context.ts'
import { prunedHistory } from '../../errors.ts'
import type { ChainView } from '../../ports.ts'
import type { PlacedLog } from '../../results/log.ts'

/** Adds the logs of one transaction that match, in order. */
function addMatching(decoded: DecodedBlock, transactionIndex: number, matcher: LogMatcher, into: PlacedLog[]): void {
  const stored = decoded.receipts[transactionIndex]
  if (stored === undefined) return
  const { logs } = stored.receipt
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at]
    if (log === undefined || !matcher.matches(log)) continue
    const logIndex = stored.firstLogIndex + at
    into.push({ log, block: decoded.place, transactionHash: decoded.hashAt(transactionIndex), transactionIndex, logIndex })
  }
}

/** The logs of one block that match, in order. @param only indexes of the transactions to look at, rising; absent: all */
export function logsIn(block: DecodedBlock, matcher: LogMatcher, only?: readonly number[]): readonly PlacedLog[] {
  const found: PlacedLog[] = []
  if (only) for (const index of only) addMatching(block, index, matcher, found)
  else for (let index = 0; index < block.count; index++) addMatching(block, index, matcher, found)
  return found
}

/** The logs of a block that match, in order. RpcError 4444 when its receipts are not retained. */
export function logsOfBlock({ blocks }: EthContext, view: ChainView, hash: Hash, matcher: LogMatcher): readonly PlacedLog[] {
  const block = blocks.read(view, hash)
  if (block === undefined) throw prunedHistory()
  return logsIn(block, matcher)
}
