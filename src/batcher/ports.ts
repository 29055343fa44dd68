import type { SafeBlock } from '#derive/ports'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** Head of L1 with what the next block costs: wei per gas, wei per blob gas. `timestamp` in seconds. */
export type L1Tip = BlockId & { readonly timestamp: number; readonly baseFeeWei: bigint; readonly blobBaseFeeWei: bigint }

/** Where a transaction is. `feeWei`: what it cost, gas and blob gas together. */
export type Inclusion = { readonly block: BlockId; readonly succeeded: boolean; readonly feeWei: bigint }

/**
 * The batcher's account: the nonce of its next transaction. `latest` counts those in canonical blocks; `pending` those that L1's pool would
 * include after them too (equal where there is no pool to ask).
 */
export type AccountNonces = { readonly latest: bigint; readonly pending: bigint }

/**
 * L1 as the batcher uses it. A call fails with a Fault of severity 'retry' when another try may help, 'fatal' when none will. All calls end
 * early when the signal is aborted, with its reason.
 */
export interface BatcherL1 {
  tip(signal: AbortSignal): Promise<L1Tip>
  nonces(signal: AbortSignal): Promise<AccountNonces>
  /**
   * Hands a signed transaction in; one that L1 has already is no fault.
   * @param raw EIP-2718 bytes; of a blob transaction with its sidecar, as EIP-4844 has it on the network
   * @throws Fault L1_TX_REFUSED (`./faults.ts`; retry) with `data.reason`
   */
  send(raw: Uint8Array, signal: AbortSignal): Promise<void>
  /** Where in the canonical chain a transaction is; undefined: nowhere (any more). */
  inclusion(hash: Hash, signal: AbortSignal): Promise<Inclusion | undefined>
}

/** The chain that is posted, by a node that also derives it. */
export interface BatcherL2 {
  /** `currentL1`: the L1 block that derivation has read to; undefined: it has not begun */
  status(signal: AbortSignal): Promise<{ readonly unsafe: L2Ref; readonly safe: L2Ref; readonly currentL1: BlockId | undefined }>
  /** The canonical block at a number; undefined: none (any more). */
  block(number: number, signal: AbortSignal): Promise<SafeBlock | undefined>
  /** How much data the sequencer may take into a block while there is more than can be posted; undefined: as much as it likes. In bytes, estimated. */
  throttle(limits: DataThrottle | undefined): Promise<void>
}

export type DataThrottle = { readonly maxTransactionBytes: number; readonly maxBlockBytes: number }

/** What a blob is sent with: `blobs` one proof of the blob (EIP-4844), `cells` 128 proofs of its cells (EIP-7594, L1 from Osaka on). */
export type ProofKind = 'blobs' | 'cells'

/** Commitments and proofs of blobs; each takes some 50 ms of a thread, those of cells more. */
export interface BlobProver {
  /** @param blob 131,072 bytes @returns 48 bytes each: one commitment, one or 128 proofs */
  prove(blob: Uint8Array, kind: ProofKind): Promise<{ readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] }>
}
