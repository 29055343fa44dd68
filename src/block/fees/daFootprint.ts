import { estimatedSizeMillionths } from './l1DataFee.ts'

/**
 * Returns the DA footprint of one transaction. The sum over a block must not exceed the block's gas limit; the header holds it as `blobGasUsed`.
 * @param raw EIP-2718 bytes of a transaction that is not a deposit: deposits have no footprint
 * @param gasScalar gas per byte of estimated compressed size, from L1Block
 * @param sizeOf `estimatedSizeMillionths`, or a version of it with a cache
 * @returns gas
 * @see specs protocol/jovian/exec-engine.md, "DA footprint block limit"
 */
export function daFootprint(raw: Uint8Array, gasScalar: bigint, sizeOf: (raw: Uint8Array) => bigint = estimatedSizeMillionths): bigint {
  return (sizeOf(raw) / 1_000_000n) * gasScalar
}
