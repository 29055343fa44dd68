import type { Address } from '#types/ids'

/** L2 parameters that L1 sets. Fields that L1 never set are zero. @see specs protocol/system-config.md */
export type SystemConfig = {
  readonly batcher: Address
  /** Bedrock's gas overhead; zero from the first update after Ecotone on. */
  readonly overhead: bigint
  /** 32 bytes: Bedrock's scalar, or (first byte 1) the packed scalars of Ecotone. */
  readonly scalar: bigint
  /** gas */
  readonly gasLimit: bigint
  /** From Holocene; zero in both selects the chain's own parameters. */
  readonly eip1559Denominator: number
  readonly eip1559Elasticity: number
  /** From Isthmus: millionths (Jovian: hundreds) of a wei per gas; u32. */
  readonly operatorFeeScalar: number
  /** From Isthmus: wei per transaction; u64. */
  readonly operatorFeeConstant: bigint
  /** From Jovian: wei per gas; u64. */
  readonly minBaseFee: bigint
  /** From Jovian: gas per byte of estimated compressed size; u16; 0 means 400. */
  readonly daFootprintGasScalar: number
}
