import type { WantedState } from '#evm/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { FetchedState } from './fetchedState.ts'

/** Request for a part of a state. */
export type StateRequest = {
  /** block whose state has the part, with the root from its header */
  readonly at: BlockId & { readonly stateRoot: Hash }
  readonly wanted: WantedState
  /** longest wait in ms; absent: the source's own */
  readonly withinMs?: number | undefined
  /** block that is executed, on the state with a root: a source may have all that it reads */
  readonly block?: BlockId & { readonly parentStateRoot: Hash }
}

/** Source of parts of a state. */
export interface StateSource {
  /**
   * Returns the wanted part, and possibly others, each tied by hashes to the root of the block or of the executed block's parent.
   * @throws Fault of severity retry when no source has the part
   */
  fetch(request: StateRequest): Promise<FetchedState>
}
