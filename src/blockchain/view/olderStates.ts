import type { HistoryCache } from '#state/historyCache'
import type { WorldState } from '#state/worldState'
import type { KvReader } from '#store/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** States that a snapshot of the chain does not have, read until they are disposed of. */
export interface RecordedStates extends Disposable {
  /** Numbers of the first and the last block whose state can be read; undefined: none. */
  readonly window: { readonly earliest: number; readonly latest: number } | undefined
  /** Returns the state after a block of the window. */
  at(number: number, blockHash: (number: number) => Hash | undefined): WorldState
}

/** Source of states before those of the chain's own history. */
export interface OlderStates {
  /** Opens the states that continue a snapshot of the chain. @param head of the snapshot @param cache of the snapshot */
  open(chain: KvReader, head: BlockId, cache: HistoryCache): RecordedStates
}
