import type { L1Ref } from '#types/blockRef'
import type { Header } from '#types/header'
import type { Address, Hash } from '#types/ids'

/** An L1 block with the root of its state. Its hash is that of its header. */
export type L1StateRef = L1Ref & { readonly stateRoot: Hash }

/** An account and slots to prove. */
export type ProofRequest = { readonly address: Address; readonly slots: readonly Hash[] }

/**
 * One L1 endpoint. Headers are checked against their own hash only; proofs and code are returned as they were received. Calls fail with a Fault of
 * severity 'retry' when the endpoint does not answer.
 */
export interface L1Witness {
  /** host and port, for messages */
  readonly name: string
  /** Returns the finalized block; undefined when there is none yet. */
  finalized(signal: AbortSignal): Promise<L1StateRef | undefined>
  /** Returns the canonical block at a number; undefined when the endpoint does not have it. */
  at(number: number, signal: AbortSignal): Promise<L1StateRef | undefined>
  /** Returns `eth_getProof` results after a block, in the order of the requests. */
  proofs(block: number, requests: readonly ProofRequest[], signal: AbortSignal): Promise<readonly unknown[]>
  /** Returns `eth_getCode` results after a block, in the order of the addresses. */
  codes(block: number, addresses: readonly Address[], signal: AbortSignal): Promise<readonly unknown[]>
}

/**
 * Returns the headers of the L2 blocks `from` to `to`, ascending, from any source. Their hashes are verified by the caller. A source that lacks some
 * of them returns fewer.
 */
export type HeaderLinks = (from: number, to: number, signal: AbortSignal) => Promise<readonly Header[]>
