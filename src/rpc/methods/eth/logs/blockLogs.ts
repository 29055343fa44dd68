import type { ChainView } from '#types/chainView'
import type { Hash } from '#types/ids'
import type { LogMatcher } from '#types/logMatcher'
import type { DecodedBlock } from '../../../cache/blockCache.ts'
import type { EthContext } from '../../../context.ts'
import { prunedHistory } from '../../../errors.ts'
import type { LocatedLog } from '../../../results/log.ts'

/** Matching logs of one block, in order. @param only ascending indexes of the transactions to read; absent: all */
export function logsIn(
  block: DecodedBlock,
  matcher: LogMatcher,
  only: Iterable<number> = block.of.block.transactions.keys(),
): readonly LocatedLog[] {
  return Array.from(only, (index) => block.logsOf(index, matcher)).flat()
}

/** Matching logs of a block, in order. @throws RpcError 4444 when its receipts are not retained */
export function logsOfBlock({ blocks }: EthContext, view: ChainView, hash: Hash, matcher: LogMatcher): readonly LocatedLog[] {
  const block = blocks.read(view, hash)
  if (block === undefined) throw prunedHistory()
  return logsIn(block, matcher)
}
