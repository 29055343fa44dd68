import type { WantedState } from '#evm/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { BlockWitness } from './blockWitness.ts'
import type { FetchedState, PlacedNode } from './fetchedState.ts'

/** Block to execute, with the state root of its parent. */
export type BlockToExecute = BlockId & { readonly parentStateRoot: Hash }

/** Request for a part of a state. */
export type StateRequest = {
  /** block whose state has the part, with the root from its header */
  readonly at: BlockId & { readonly stateRoot: Hash }
  readonly wanted: WantedState
  /** longest wait in ms; absent: the source's own */
  readonly withinMs?: number | undefined
  /** block that is executed: a source may have all that it reads */
  readonly block?: BlockToExecute
  /** the block's witness is not wanted: it was returned before, or could not be */
  readonly partOnly?: boolean
}

/** Source of parts of a state. */
export interface StateSource {
  /**
   * Returns the wanted part, and possibly others, each tied by hashes to the root of the block; or a witness of the executed block, which may lack it.
   * @throws Fault of severity retry when no source has the part
   */
  fetch(request: StateRequest): Promise<FetchedState>
}

/** Source of all that a block reads. */
export interface WitnessSource {
  /** @returns undefined when no source has it now */
  witness(block: BlockToExecute): Promise<BlockWitness | undefined>
}

/** All keys of a trie from one on. */
export type RangeRequest = {
  /** keccak of an account, for its storage; undefined: the accounts */
  readonly owner: Uint8Array | undefined
  readonly first: Uint8Array
  /** of the storage, if the caller knows it */
  readonly root?: Hash
}

/** The first leaves of a range, proved to be all up to the last of them. */
export type StateRange = {
  /** ascending by hashed key; the RLP of an account, or of the value of a slot */
  readonly leaves: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]
  /** parents precede their children */
  readonly nodes: readonly PlacedNode[]
  /** first key of the rest; undefined: the range is whole */
  readonly next: Uint8Array | undefined
  /** size of the answer, about */
  readonly bytes: number
}

/** Source that enumerates a state. */
export interface RangeSource {
  /**
   * Returns the first leaves of each range.
   * @throws Fault STATE_UNAVAILABLE (retry)
   */
  ranges(at: StateRequest['at'], wanted: readonly RangeRequest[]): Promise<readonly StateRange[]>
  /** Returns codes by their hashes. @throws Fault STATE_UNAVAILABLE (retry) */
  codes(at: StateRequest['at'], hashes: readonly Hash[]): Promise<readonly Uint8Array[]>
  /** Returns whether a source may serve ranges and codes by hash: false once each one has refused a method. */
  enumerates(): boolean
}
