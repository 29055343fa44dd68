import type { SafeBlock } from '#derive/ports'
import type { BlockId, L2Ref } from '#types/blockRef'
import type { Hash } from '#types/ids'

/** Head of L1 with the fees of the next block: wei per gas, wei per blob gas. `timestamp` in seconds. */
export type L1Tip = BlockId & { readonly timestamp: number; readonly baseFeeWei: bigint; readonly blobBaseFeeWei: bigint }

/** Inclusion of a transaction. `feeWei` is its total cost, gas and blob gas. */
export type Inclusion = { readonly block: BlockId; readonly succeeded: boolean; readonly feeWei: bigint }

/**
 * Next nonce of the batcher's account. `latest` counts transactions in canonical blocks; `pending` also counts those in L1's pool (equal when there
 * is no pool).
 */
export type AccountNonces = { readonly latest: bigint; readonly pending: bigint }

/**
 * L1 as the batcher uses it. Calls fail with a Fault of severity 'retry' when a retry may help, otherwise 'fatal'. An aborted signal ends a call with
 * the signal's reason.
 */
export interface BatcherL1 {
  tip(signal: AbortSignal): Promise<L1Tip>
  nonces(signal: AbortSignal): Promise<AccountNonces>
  /**
   * Sends a signed transaction. A transaction that L1 has already is not a fault.
   * @param raw EIP-2718 bytes; a blob transaction with its sidecar, in the network encoding of EIP-4844
   * @throws Fault L1_TX_REFUSED (`./faults.ts`; retry) with `data.reason`
   */
  send(raw: Uint8Array, signal: AbortSignal): Promise<void>
  /** Returns the canonical block of a transaction; undefined when there is none. */
  inclusion(hash: Hash, signal: AbortSignal): Promise<Inclusion | undefined>
}

/** Node whose chain is posted, and which also derives it. */
export interface BatcherL2 {
  /** Returns the heads. `currentL1` is the L1 block that derivation has read to; undefined before it starts */
  status(signal: AbortSignal): Promise<{ readonly unsafe: L2Ref; readonly safe: L2Ref; readonly currentL1: BlockId | undefined }>
  /** Returns the canonical block at a number; undefined when there is none. */
  block(number: number, signal: AbortSignal): Promise<SafeBlock | undefined>
  /** Sets the sequencer's limits of transaction data while the backlog is too large, in estimated bytes; undefined removes them. */
  throttle(limits: DataThrottle | undefined): Promise<void>
}

export type DataThrottle = { readonly maxTransactionBytes: number; readonly maxBlockBytes: number }

/** Kind of proof sent with a blob: `blobs` one proof of the blob (EIP-4844), `cells` 128 proofs of its cells (EIP-7594, L1 from Osaka on). */
export type ProofKind = 'blobs' | 'cells'

/** Computes commitments and proofs of blobs. Each takes about 50 ms of a thread, cell proofs more. */
export interface BlobProver {
  /**
   * @param blob 131,072 bytes
   * @returns one commitment, and one or 128 proofs, 48 bytes each
   */
  prove(blob: Uint8Array, kind: ProofKind): Promise<{ readonly commitment: Uint8Array; readonly proofs: readonly Uint8Array[] }>
}
