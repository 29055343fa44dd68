import { estimatedSizeMillionths } from './l1DataFee.ts'

/**
 * What one transaction adds to the block's data-availability footprint, which may not exceed the block's gas limit and stands in the header
 * as `blobGasUsed`.
 * @param raw EIP-2718 bytes; never a deposit: it adds nothing
 * @param gasScalar gas per byte of estimated compressed size, from L1Block
 * @param sizeOf `estimatedSizeMillionths`, for who remembers what it said
 * @returns gas
 * @see specs protocol/jovian/exec-engine.md, "DA footprint block limit"
 */
export function daFootprint(raw: Uint8Array, gasScalar: bigint, sizeOf: (raw: Uint8Array) => bigint = estimatedSizeMillionths): bigint {
  return (sizeOf(raw) / 1_000_000n) * gasScalar
}
