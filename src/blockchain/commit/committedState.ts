import { latestState, oldestState, stateAt } from '#state/chainState'
import type { HistoryCache } from '#state/historyCache'
import type { WorldState } from '#state/worldState'
import type { KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import { readCanonicalHash } from '../chainStore.ts'

/**
 * Returns the state after a committed block: the latest state, or one at that block from the changes of later blocks.
 * @param committed the committed head
 * @param cache shared by the states on one snapshot
 * @returns undefined when the state is not retained
 */
export function committedState(reader: KvReader, committed: BlockId, block: BlockId, cache: HistoryCache): WorldState | undefined {
  if (block.number < oldestState(reader)) return undefined
  const blockHash = (number: number): Hash | undefined => (number <= block.number ? readCanonicalHash(reader, number) : undefined)
  return block.number === committed.number ? latestState(reader, blockHash) : stateAt(reader, block.number, blockHash, cache)
}
