import type { WantedState } from '#evm/ports'
import type { BlockId } from '#types/blockRef'
import type { Hash } from '#types/ids'
import type { FetchedState, PlacedNode } from './fetchedState.ts'

/** A block that is executed, on the state with a root. */
export type ExecutedBlock = BlockId & { readonly parentStateRoot: Hash }

/** Request for a part of a state. */
export type StateRequest = {
  /** block whose state has the part, with the root from its header */
  readonly at: BlockId & { readonly stateRoot: Hash }
  readonly wanted: WantedState
  /** longest wait in ms; absent: the source's own */
  readonly withinMs?: number | undefined
  /** block that is executed: a source may have all that it reads */
  readonly block?: ExecutedBlock
}

/** Source of parts of a state. */
export interface StateSource {
  /**
   * Returns the wanted part, and possibly others, each tied by hashes to the root of the block or of the executed block's parent.
   * @throws Fault of severity retry when no source has the part
   */
  fetch(request: StateRequest): Promise<FetchedState>
}

/** Source that can fetch all that a block reads before it is executed. */
export interface AheadSource {
  /** Announces a block that will be executed. */
  expect(block: ExecutedBlock): void
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
   * Returns the begin of each range.
   * @throws Fault STATE_UNAVAILABLE (retry)
   */
  ranges(at: StateRequest['at'], wanted: readonly RangeRequest[]): Promise<readonly StateRange[]>
  /** Returns codes by their hashes. @throws Fault STATE_UNAVAILABLE (retry) */
  codes(at: StateRequest['at'], hashes: readonly Hash[]): Promise<readonly Uint8Array[]>
  /** Returns whether a source may serve ranges and codes by hash: false once each one has refused a method. */
  enumerates(): boolean
}
